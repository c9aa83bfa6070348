import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest, sizesUpTo } from '../src/size.js';

test('sizes double up to the limit', () => {
  assert.deepEqual(sizesUpTo(8, 1), [1, 2, 4, 8]);
  assert.deepEqual(sizesUpTo(6, 1), [1, 2, 4, 6]);
  assert.deepEqual(sizesUpTo(100, 16), [16, 32, 64, 100]);
  // No choice.
  assert.deepEqual([sizesUpTo(1, 1), sizesUpTo(16, 16), sizesUpTo(8, 16)], [[1], [16], [8]]);
});

test('a size that the server does not offer becomes a smaller one', () => {
  const sizes = sizesUpTo(100, 16);
  assert.deepEqual([64, 512, 70, 1].map((wanted) => nearest(sizes, wanted)), [64, 100, 64, 16]);
});
