import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decided, rankCorrelation, scoreAt } from '../src/map.js';
import type { Sampled } from '../src/protocol.js';

const fen = (turn: 'w' | 'b') => `4k3/8/8/8/8/8/8/4K3 ${turn} - - 0 1`;

function sampled(x: number, y: number, p: number, turn: 'w' | 'b' = 'w'): Sampled {
  return { fen: fen(turn), at: [x, y], p };
}

test('the score of a place lies between those of the sample with the same side to move', () => {
  const sample = [sampled(-0.5, 0, 0.1), sampled(0.5, 0, 0.7), sampled(0.1, 0, 0.9, 'b'), sampled(0.3, 0, 0.5)];
  const scores = [-0.9, -0.5, 0.1, 0.4, 0.9].map((x) => Math.round(100 * scoreAt(x, 'white', sample)));
  assert.deepEqual(scores, [10, 10, 40, 60, 70]);
  assert.equal(scoreAt(0, 'black', sample), 0.9);
  assert.equal(scoreAt(0, 'black', []), 0.5);
});

test('the vertical axis is named if it follows the distance from equality', () => {
  assert.equal(rankCorrelation([1, 2, 3, 4], [10, 20, 30, 400]), 1);
  assert.equal(rankCorrelation([1, 2, 3, 4], [4, 3, 2, 1]), -1);
  assert.ok(Math.abs(rankCorrelation([1, 2, 3, 4], [2, 4, 1, 3])) < 0.3);
  const bent = [-0.8, -0.41, 0, 0.4, 0.9].map((x) => sampled(x, x * x, 0.5));
  assert.equal(decided(bent), 'up');
  assert.equal(decided(bent.map(({ at: [x, y] }) => sampled(x, -y, 0.5))), 'down');
  assert.equal(decided([0.1, 0.2, 0.3, 0.4].map((x, at) => sampled(x, [2, 4, 1, 3][at] ?? 0, 0.5))), null);
  assert.equal(decided([]), null);
});
