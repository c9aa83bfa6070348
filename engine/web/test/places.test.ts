import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fragmentOf, targetOf } from '../src/address.js';
import { openingOf, openingText } from '../src/opening.js';
import { commandIn, gamesOf, readGame, writeGame } from '../src/pgn.js';
import { Recording, type Recorded } from '../src/recording.js';
import { newGame, rootOf, type TreeNode } from '../src/tree.js';

function played(sans: string): TreeNode {
  return sans.split(' ').reduce<TreeNode>((node, san) => {
    const next = node.playText(san);
    assert.ok(next, san);
    return next;
  }, newGame());
}

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
  assert.deepEqual(targetOf('#ply=23'), { game: 0, ply: 23 });
  assert.deepEqual(targetOf('#game=2&ply=0'), { game: 1, ply: 0 });
  for (const wrong of ['', '#', '#ply=', '#ply=x', '#ply=-1', '#game=x&ply=2', '#ply=9999999', '#other']) {
    assert.equal(targetOf(wrong), null, wrong);
  }
  const target = { game: 1, ply: 7 };
  assert.deepEqual(targetOf(fragmentOf(target, 3)), target);
  assert.equal(fragmentOf({ game: 0, ply: 7 }, 1), '#ply=7');
});

test('a position of a variation belongs to the fork on the main line', () => {
  const [game] = gamesOf('1. e4 e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 *');
  assert.ok(game);
  const { root } = readGame(game);
  const c5 = root.children[0]?.children[1];
  for (const node of [c5, c5?.children[0], c5?.children[1]]) assert.equal(node?.onMainLine().ply, 1);
  assert.equal(root.mainLine()[3]?.onMainLine().ply, 3);
});

test('a recorded game has its variations, comments, glyphs and analysis', () => {
  const judged = [0, 1, 2].map((ply) => ({
    ply, score: { cp: 10, win_probability: 0.5 }, wdl: null, pv: [], cosine: 0, loss: null, judgement: null, rank: null,
  }));
  const data: Recorded = {
    credit: 'c', board_credit: 'b', weights: 'beam', sample: [],
    games: [{
      tags: [['White', 'A']], fen: newGame().fen, comments: ['start'],
      nodes: [
        { parent: 0, san: 'e4', comments: ['[%clk 0:01:02] good'], glyphs: [1] },
        { parent: 1, san: 'e5' },
        { parent: 1, san: 'c5', comments: ['sharp'] },
        { parent: 0, san: 'd4' },
      ],
      judged, path: [[0, 0], [0.1, 0.2], [0.2, 0.4]], near: [[], [], []],
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
