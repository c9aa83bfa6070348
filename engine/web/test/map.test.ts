import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFen } from 'chessops/fen';
import { decided, isAlike, rankCorrelation, scoreAt } from '../src/map.js';
import type { Sampled } from '../src/protocol.js';

const fen = (turn: 'w' | 'b') => `4k3/8/8/8/8/8/8/4K3 ${turn} - - 0 1`;

function sampled(x: number, y: number, p: number, turn: 'w' | 'b' = 'w'): Sampled {
  return { fen: fen(turn), at: [x, y], p };
}

test('like material has the same queens and rooks, and at most two other pieces more or fewer', () => {
  const board = (pieces: string) => parseFen(`${pieces} w - - 0 1`).unwrap().board;
  const rooks = board('4k2r/ppp5/8/8/8/8/PPP5/R3K3');
  assert.ok(isAlike(rooks, board('4k2r/5ppp/8/8/8/8/5PPP/R3K3')));
  assert.ok(isAlike(rooks, board('4k2r/p7/8/8/8/8/PPP3PP/R3KBN1')));
  for (const other of ['4k2r/8/8/8/8/8/PPP5/R3K3', '4k2r/ppp5/8/8/8/8/PPP5/R2BKBN1', '4k2q/ppp5/8/8/8/8/PPP5/R3K3', '4k3/ppp5/8/8/8/8/PPP5/RR2K3']) {
    assert.ok(!isAlike(rooks, board(other)), other);
  }
});

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
