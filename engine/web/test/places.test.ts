import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fragmentOf, nodeAt, targetOf, targetTo } from '../src/address.js';
import { openingOf, openingText } from '../src/opening.js';
import { commandIn, writeGame } from '../src/pgn.js';
import { Recording, type Recorded } from '../src/recording.js';
import { newGame, rootOf } from '../src/tree.js';
import { played } from './played.js';

test('openings are named by position', () => {
  assert.equal(openingOf(newGame()), null);
  assert.equal(openingText(played('e4 c5')), 'B20 Sicilian Defense');
  assert.equal(openingText(played('d4 d5 c4')), 'D06 Queen\'s Gambit');
  // Another order of moves leads to the same name.
  assert.equal(openingText(played('c4 d5 d4')), 'D06 Queen\'s Gambit');
  // The last known name stays.
  assert.equal(openingText(played('e4 c5 a3 h5 h4 Na6 Rh3 Nb8')), openingText(played('e4 c5 a3')));
  assert.equal(openingOf(rootOf('7k/8/8/8/8/8/8/K7 w - - 0 1')), null);
});

test('a saved game names its opening, unless its tags do', () => {
  const root = played('d4 d5 c4').root();
  assert.match(writeGame(new Map(), root), /\[ECO "D06"\]\n\[Opening "Queen's Gambit"\]/);
  assert.match(writeGame(new Map([['Opening', 'Mine']]), root), /\[Opening "Mine"\]/);
  assert.doesNotMatch(writeGame(new Map(), newGame()), /ECO|Opening/);
});

test('a fragment leads to a position', () => {
  assert.deepEqual(targetOf('#ply=23'), { game: 0, ply: 23, line: [] });
  assert.deepEqual(targetOf('#game=2&ply=0'), { game: 1, ply: 0, line: [] });
  for (const wrong of ['', '#', '#ply=', '#ply=x', '#ply=-1', '#game=x&ply=2', '#ply=9999999', '#other']) {
    assert.equal(targetOf(wrong), null, wrong);
  }
  for (const line of [[], ['e7e8q', 'g1f3']]) {
    const target = { game: 1, ply: 7, line };
    assert.deepEqual(targetOf(fragmentOf(target, 3)), target);
  }
  assert.equal(fragmentOf({ game: 0, ply: 7, line: [] }, 1), '#ply=7');
});

test('a fragment leads into a variation', () => {
  const root = played('e4 e5 Nf3').root();
  const c5 = root.children[0]?.playText('c5');
  const [nf3, c3] = [c5?.playText('Nf3'), c5?.playText('c3')];
  assert.ok(c5 && nf3 && c3);
  for (const node of [c5, nf3, c3, ...root.mainLine()]) {
    const target = targetTo(node, 0);
    assert.equal(nodeAt(root, target), node, fragmentOf(target, 1));
  }
  assert.equal(fragmentOf(targetTo(c3, 0), 1), '#ply=1&line=c7c5.c2c3');
  // A move that the game lacks ends the way.
  assert.equal(nodeAt(root, { game: 0, ply: 1, line: ['c7c5', 'a2a3', 'e7e5'] }), c5);
  assert.equal(nodeAt(root, { game: 0, ply: 99, line: [] }), root.mainLine()[3]);
});

test('a recorded game has its variations, comments, glyphs and analysis', () => {
  const judged = [0, 1, 2].map((ply) => ({
    ply, score: { cp: 10, win_probability: 0.5 }, wdl: null, pv: [], cosine: 0, loss: null, judgement: null, rank: null,
  }));
  const data: Recorded = {
    credit: 'c', board_credit: 'b', weights: 'beam', sample: [],
    games: [{
      tags: [['White', 'A']], fen: newGame().fen, result: null, comments: ['start'],
      nodes: [
        { parent: 0, uci: 'e2e4', comments: ['[%clk 0:01:02] good'], glyphs: [1] },
        { parent: 1, uci: 'e7e5' },
        { parent: 1, uci: 'c7c5', comments: ['sharp'] },
        { parent: 0, uci: 'd2d4' },
      ],
      judged, path: [[0, 0], [0.1, 0.2], [0.2, 0.4]], near: [0, 1, 2].map(() => ({ near: [], alike: false })),
    }],
  };
  const recording = new Recording(data);
  const { root, tags } = recording.open(5);
  assert.match(writeGame(tags, root), /\{ start \} 1\. e4 \$1 \{ \[%clk 0:01:02\] good \} \( 1\. d4 \) 1\.\.\. e5 \( 1\.\.\. c5 \{ sharp \} \)/);
  assert.deepEqual(root.mainLine().map((node) => node.judged?.ply), [0, 1, 2]);
  assert.equal(root.children[1]?.judged, null);
  assert.equal(commandIn(root.children[0]?.comments ?? [], 'clk'), '0:01:02');
  assert.equal(commandIn(['[%eval 0.3]'], 'clk'), null);
  const c5 = root.children[0]?.children[1];
  assert.ok(c5);
  const { path, ahead, sample } = recording.space(c5, false);
  assert.deepEqual([path, ahead, sample], [[[0, 0], [0.1, 0.2]], [[0.1, 0.2], [0.2, 0.4]], undefined]);
});
