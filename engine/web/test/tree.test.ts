import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf } from '../src/game-end.js';
import { captured } from '../src/players.js';
import { gameText, occasionOf, tagsOf, titleOf, treeOf, writeGame } from '../src/pgn.js';
import type { GameText } from '../src/protocol.js';
import { arrowOf, gameLine, lineTo, newGame, rootOf, sansOf } from '../src/tree.js';
import { played } from './played.js';

const GAME: GameText = {
  tags: [['White', 'A'], ['Black', 'B']],
  fen: newGame().fen,
  result: '1-0',
  comments: ['start'],
  nodes: [
    { parent: 0, uci: 'e2e4', comments: ['best'] },
    { parent: 1, uci: 'e7e5' },
    { parent: 1, uci: 'c7c5' },
    { parent: 3, uci: 'g1f3' },
    { parent: 3, uci: 'c2c3' },
    { parent: 5, uci: 'd7d5' },
    { parent: 2, uci: 'g1f3', glyphs: [1] },
    { parent: 7, uci: 'b8c6' },
  ],
};

test('a game is read and written with its variations, comments and glyphs', () => {
  const { root, tags } = treeOf(GAME);
  assert.equal(titleOf(tags), 'A – B, 1-0');
  assert.equal(titleOf(tagsOf(GAME)), 'A – B, 1-0');
  assert.equal(titleOf(new Map([['White', '?'], ['BlackElo', '2700']])), 'White – Black (2700)');
  assert.equal(occasionOf(new Map([['Event', 'E'], ['Date', '????.??.??'], ['Round', '4']])), 'E · 4');
  const written = writeGame(tags, root);
  assert.match(
    written,
    /\{ start \} 1\. e4 \{ best \} e5 \( 1\.\.\. c5 2\. Nf3 \( 2\. c3 d5 \) \) 2\. Nf3 \$1 2\.\.\. Nc6 1-0/,
  );
  const again = treeOf(gameText(tags, root));
  assert.equal(writeGame(again.tags, again.root), written);
});

test('moves are read as SAN and in UCI notation, and castling as either', () => {
  const node = rootOf('r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1');
  for (const text of ['O-O', '0-0', 'e1g1', 'e1h1', 'E1G1']) assert.equal(node.playText(text)?.san, 'O-O', text);
  assert.equal(node.children.length, 1);
  assert.deepEqual(node.children[0]?.lastMove, ['e1', 'g1']);
  assert.equal(node.playText('o-o')?.san, 'O-O');
  assert.equal(node.playText('e1e5'), null);
  assert.equal(node.playText('nonsense'), null);
  assert.deepEqual(arrowOf(node.position, 'e1h1', 'green'), [{ orig: 'e1', dest: 'g1', brush: 'green' }]);
  assert.deepEqual(sansOf(node.position, ['e1g1', 'e8c8', 'a1a2', 'a1a3']), ['O-O', 'O-O-O', 'Ra2']);
});

test('the letter of a piece may be small', () => {
  const read = (fen: string, text: string) => rootOf(fen).playText(text)?.san;
  assert.equal(newGame().playText('nf3')?.san, 'Nf3');
  const both = '7k/8/8/8/8/2n5/1P1B4/3QK3 w - - 0 1';
  for (const [text, san] of [['bxc3', 'bxc3'], ['Bxc3', 'Bxc3+'], ['b4', 'b4'], ['qb3', 'Qb3'], ['kf2', 'Kf2'], ['bf4', 'Bf4']]) {
    assert.equal(read(both, text ?? ''), san, text);
  }
  // No pawn can capture.
  assert.equal(read('7k/8/8/8/8/2n5/3B4/4K3 w - - 0 1', 'bxc3'), 'Bxc3+');
  assert.equal(read('7k/8/8/8/8/8/8/1N2KN2 w - - 0 1', 'nd2'), undefined);
  assert.equal(read('7k/4P3/8/8/8/8/8/4K3 w - - 0 1', 'e8=q'), 'e8=Q+');
});

test('a move in UCI notation is that of the piece on its first square', () => {
  const read = (fen: string, text: string) => rootOf(fen).playText(text)?.san;
  assert.equal(read('4k3/8/8/8/8/8/8/1NB1K3 w - - 0 1', 'b1d2'), 'Nd2');
  assert.equal(read('1nb1k3/8/8/8/8/8/8/4K3 b - - 0 1', 'b8d7'), 'Nd7');
  assert.equal(read('4k3/8/8/8/8/8/8/2B1K3 w - - 0 1', 'b1d2'), undefined);
  assert.equal(read('4k3/8/8/8/8/2B5/8/2B1K3 w - - 0 1', 'B1d2'), 'B1d2');
});

test('a variation that begins with the main move leaves the main line as it is', () => {
  const nodes = [
    { parent: 0, uci: 'e2e4' },
    { parent: 0, uci: 'e2e4' },
    { parent: 2, uci: 'c7c5' },
    { parent: 1, uci: 'e7e5' },
  ];
  const { root } = treeOf({ ...GAME, nodes });
  assert.match(writeGame(new Map(), root), /1\. e4 e5 \( 1\.\.\. c5 \)/);
});

test('a position that the page cannot show is named', () => {
  const fen = '4k3/8/8/8/8/8/8/4K2R w K - 0 10000';
  assert.throws(() => treeOf({ ...GAME, fen }), new RegExp(`position “${fen}”`));
});

test('the engine gets the first position and the moves', () => {
  const node = played('e4 e5 Nf3');
  assert.deepEqual(gameLine(node).moves, ['e4', 'e5', 'Nf3']);
  assert.equal(node.number, '2.');
  assert.equal(node.parent?.number, '1…');
});

test('a variation becomes the main line, and can be deleted', () => {
  const { root } = treeOf(GAME);
  const c5 = root.children[0]?.children[1];
  assert.ok(c5 && !c5.isOnMainLine());
  c5.promote();
  assert.ok(c5.isOnMainLine());
  c5.remove();
  assert.equal(root.children[0]?.children.length, 1);
});

test('a move can be looked at without a change of the tree', () => {
  const root = newGame();
  const [e4, d4] = ['e4', 'd4'].map((san) => root.read(san));
  assert.ok(e4 && d4);
  const known = root.play(e4);
  assert.equal(root.after(e4), known);
  const looked = root.after(d4);
  assert.ok(looked);
  assert.deepEqual(gameLine(looked).moves, ['d4']);
  assert.deepEqual(root.children, [known]);
  assert.equal(root.after({ from: 12, to: 36 }), null);
  looked.add();
  looked.add();
  assert.deepEqual(root.children, [known, looked]);
  assert.equal(root.play(d4), looked);
});

test('a line is copied with its comments, without variations and later moves', () => {
  const { root } = treeOf(GAME);
  const tip = root.children[0]?.children[1]?.children[0];
  assert.ok(tip);
  const copy = lineTo(tip);
  assert.deepEqual([copy.fen, copy.children, copy.ply], [tip.fen, [], 3]);
  assert.deepEqual(copy.root().mainLine().map((node) => node.san), ['', 'e4', 'c5', 'Nf3']);
  assert.match(writeGame(new Map(), copy.root()), /\n1\. e4 \{ best \} c5 2\. Nf3 \*\n/);
  const fen = '7k/8/8/8/8/8/1p6/K7 w - - 3 20';
  assert.equal(lineTo(rootOf(fen)).fen, fen);
});

test('a move knows the piece that it captures', () => {
  const taken = (sans: string, fen?: string) => played(sans, fen).captured?.role;
  assert.equal(taken('e4 d5 exd5'), 'pawn');
  assert.equal(taken('e4 a6 e5 d5 exd6'), 'pawn');
  assert.equal(taken('O-O', '4k3/8/8/8/8/8/8/4K2R w K - 0 1'), undefined);
  const node = played('Nf3 e5 Nxe5 Nc6 Nxc6 bxc6');
  assert.deepEqual([captured(node, 'white'), captured(node, 'black')], ['♞♟\uFE0E +1', '♞']);
});

test('games end as the rules say', () => {
  assert.equal(endOf(played('e4 e5')), null);
  assert.equal(endOf(played('f3 e5 g4 Qh4'))?.result, '0-1');
  assert.equal(endOf(played('Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1')), null);
  assert.match(endOf(played('Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8'))?.words ?? '', /repetition/);
  assert.match(endOf(played('Qf7', '7k/8/6K1/8/8/8/8/5Q2 w - - 0 1'))?.words ?? '', /stalemate/);
  assert.match(endOf(played('Qf2', '7k/8/6K1/8/8/8/8/5Q2 w - - 99 80'))?.words ?? '', /50-move/);
  assert.match(endOf(played('Kxb2', '7k/8/8/8/8/8/1p6/K7 w - - 0 1'))?.words ?? '', /neither/);
});
