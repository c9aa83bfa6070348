import assert from 'node:assert/strict';
import { test } from 'node:test';
import { averageLoss, gameAccuracy, moveAccuracy } from '../src/accuracy.js';
import { Clock, clockComment, clockText, timeOf } from '../src/clock.js';
import { scoreText, short, whiteShare, whiteWdl } from '../src/score.js';
import { newGame } from '../src/tree.js';

test('scores are White’s', () => {
  assert.equal(scoreText({ cp: 35, win_probability: 0.53 }, 'white'), '+0.35');
  assert.equal(scoreText({ cp: 35, win_probability: 0.53 }, 'black'), '−0.35');
  assert.equal(scoreText({ mate: 3, win_probability: 1 }, 'black'), '#-3');
  assert.equal(scoreText({ mate: -2, win_probability: 0 }, 'black'), '#2');
  assert.equal(scoreText({ mate: 0, win_probability: 0 }, 'white'), '#-');
  const score = { cp: 35, win_probability: 0.53 };
  assert.equal(whiteShare({ score, wdl: [100, 300, 600] }, 'black'), 0.75);
  assert.equal(whiteShare({ score: { mate: 0, win_probability: 0 }, wdl: null }, 'white'), 0);
  assert.deepEqual(whiteWdl([500, 300, 200], 'black'), [200, 300, 500]);
  assert.deepEqual([999, 1500, 2_500_000].map(short), ['999', '1.5k', '2.5M']);
});

test('accuracy falls with the loss', () => {
  assert.equal(moveAccuracy(50, 60), 100);
  assert.ok(moveAccuracy(50, 45) < 100 && moveAccuracy(50, 45) > moveAccuracy(50, 30));
  assert.ok(moveAccuracy(100, 0) >= 0 && moveAccuracy(100, 0) < 5);
  // White plays without a fault, Black blunders once.
  const shares = [50, 50, 50, 50, 90, 90, 90, 90, 90];
  const [white, black] = gameAccuracy(shares, true);
  assert.equal(white, 100);
  assert.ok(black !== null && black < 80, String(black));
  assert.deepEqual(gameAccuracy([50], true), [null, null]);
  assert.deepEqual(gameAccuracy([50, 50], false), [null, 100]);
});

test('the average centipawn loss counts what a side gives away', () => {
  const scores = [{ cp: 20 }, { cp: 180 }, { cp: 180 }, { mate: -2 }];
  let node = newGame();
  for (const [at, score] of scores.entries()) {
    if (at) node = node.playText(['e4', 'f6', 'a3'][at - 1] ?? '') ?? node;
    const judged = { ply: at, score: { ...score, win_probability: 0 }, wdl: null, pv: [], cosine: 0, loss: 0, judgement: null, rank: null };
    node.judged = judged;
  }
  // White loses 20 + 180 in its first move, and nothing in the second; Black 360.
  assert.deepEqual(averageLoss(node.root().mainLine()), [100, 360]);
});

test('a time is written and read in comments', () => {
  assert.equal(clockComment(3_723_449), '[%clk 1:02:03.4]');
  const e4 = newGame().playText('e4');
  const e5 = e4?.playText('e5');
  assert.ok(e4 && e5);
  e4.comments = [`good ${clockComment(59_950)}`];
  assert.deepEqual([timeOf(e5, 'white'), timeOf(e5, 'black')], [59_900, null]);
  e5.comments = ['[%clk nonsense]'];
  assert.equal(timeOf(e5, 'black'), null);
});

test('a clock gains its increment', () => {
  const clock = new Clock(Clock.of('300+3'));
  clock.addIncrement('white');
  assert.equal(clock.left('white'), 303_000);
  assert.equal(clock.left('black'), 300_000);
  assert.deepEqual([7300, 245_000, 3_723_000].map(clockText), ['0:07.3', '4:05', '1:02:03']);
});
