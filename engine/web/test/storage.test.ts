import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keep, kept } from '../src/storage.js';

/** A storage of the browser: its items are its properties. */
class Items {
  [key: string]: unknown;
  getItem(key: string): unknown {
    return Object.hasOwn(this, key) ? this[key] : null;
  }
  setItem(key: string, text: string): void {
    if (key === 'azimuth.game') writes += 1;
    this[key] = text;
  }
}

let writes = 0;
const shared = new Items();

/** Goes to another tab of the browser. */
function goTo(tab: Items): void {
  Object.assign(globalThis, { localStorage: shared, sessionStorage: tab });
}

test('a tab begins with the things that were kept last, and then has its own', () => {
  const [one, other] = [new Items(), new Items()];
  goTo(one);
  assert.equal(kept('game'), null);
  goTo(other);
  keep('game', ['e4']);
  assert.deepEqual(kept('game'), ['e4']);
  goTo(one);
  assert.equal(kept('game'), null);
  goTo(new Items());
  assert.deepEqual(kept('game'), ['e4']);
});

test('a thing that has not changed is not written again', () => {
  keep('game', ['d4']);
  writes = 0;
  keep('game', ['d4']);
  assert.equal(writes, 0);
  keep('game', ['d4', 'd5']);
  assert.equal(writes, 2);
});

test('a thing that is kept for one tab alone is not in a new one', () => {
  goTo(new Items());
  keep('tab', 'why', true);
  assert.equal(kept('tab'), 'why');
  goTo(new Items());
  assert.equal(kept('tab'), null);
});
