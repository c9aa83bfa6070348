import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Explorer } from '../src/explorer.js';
import type { FileGame } from '../src/protocol.js';
import { mayBeKnown, ranked } from '../src/tables.js';
import { newGame, rootOf } from '../src/tree.js';
import { played } from './played.js';

function game(sans: string, result: string | null, fen?: string): FileGame {
  const nodes = played(sans, fen).path().map(({ uci }, parent) => ({ parent, uci }));
  return { tags: [], fen: fen ?? newGame().fen, result, comments: [], nodes };
}

function explored(games: FileGame[]): Explorer {
  const explorer = new Explorer(games);
  for (let at = 0; at < games.length; at += 1) explorer.readNext();
  return explorer;
}

test('the explorer counts the moves and results of games, whichever moves led to the position', () => {
  const explorer = explored([
    game('e4 e5 Nf3', '1-0'),
    game('e4 c5', '0-1'),
    game('d4 d5', '1/2-1/2'),
    game('e4 e5 Nc3', null),
    { fault: 'cannot be read' },
    game('', '1-0'),
  ]);
  assert.deepEqual([explorer.count, explorer.read], [4, 4]);
  assert.deepEqual(explorer.moves(newGame().position), [
    { uci: 'e2e4', games: 3, wins: 1, draws: 0, losses: 1 },
    { uci: 'd2d4', games: 1, wins: 0, draws: 1, losses: 0 },
  ]);
  assert.deepEqual(explorer.moves(played('e4').position).map(({ uci, games }) => [uci, games]), [['e7e5', 2], ['c7c5', 1]]);
  assert.deepEqual(explorer.moves(played('e4 e5 Nf3').position), []);
  assert.deepEqual(explorer.moves(played('a3').position), []);
  const both = explored([game('d4 Nf6 c4 e6', '1-0'), game('c4 Nf6 d4 g6', '0-1')]);
  assert.deepEqual(both.moves(played('c4 Nf6 d4').position).map(({ uci }) => uci), ['e7e6', 'g7g6']);
});

test('the explorer counts a repeated move once a game, and no variation', () => {
  const explorer = explored([game('Nf3 Nf6 Ng1 Ng8 Nf3 Nf6', '1-0')]);
  assert.deepEqual(explorer.moves(newGame().position), [{ uci: 'g1f3', games: 1, wins: 1, draws: 0, losses: 0 }]);
  const nodes = [
    { parent: 0, uci: 'e2e4' },
    { parent: 0, uci: 'd2d4' },
    { parent: 2, uci: 'd7d5' },
    { parent: 1, uci: 'e7e5' },
  ];
  const varied = explored([{ tags: [], fen: newGame().fen, result: '1-0', comments: [], nodes }]);
  assert.deepEqual(varied.moves(newGame().position).map(({ uci }) => uci), ['e2e4']);
  assert.deepEqual(varied.moves(played('e4').position).map(({ uci }) => uci), ['e7e5']);
});

test('castling is one move in either notation, and a position that cannot be shown is left out', () => {
  const fen = '4k3/8/8/8/8/8/8/4K2R w K - 0 1';
  const castles = (uci: string): FileGame => ({ tags: [], fen, result: '1-0', comments: [], nodes: [{ parent: 0, uci }] });
  const explorer = explored([castles('e1g1'), castles('e1h1'), { ...castles('e1g1'), fen: '8/8/8/8/8/8/8/8 w - - 0 1' }]);
  assert.deepEqual(explorer.moves(rootOf(fen).position).map(({ uci, games }) => [uci, games]), [['e1h1', 2]]);
});

test('the moves in the tablebases stand in the order of lichess', () => {
  const order = (fen: string, distances: Record<string, number>) =>
    ranked(rootOf(fen).position, Object.entries(distances).map(([uci, dtz]) => ({ uci, dtz }))).map(
      ({ san, outcome, kind, dtz }) => `${san} ${outcome} ${kind} ${dtz}`,
    );
  // The mate, a capture, the fastest wins, then draws, and the losses from the slowest to the fastest.
  assert.deepEqual(order('7k/8/5KP1/8/8/8/8/R7 w - - 0 1', { g6g7: 20, a1a2: 9, a1b1: 3, a1h1: 1, a1a8: 0, f6e5: -4, f6e6: -6, f6f5: 0 }), [
    'Ra8# win checkmate 0',
    'g7+ win pawn 20',
    'Rh1+ win quiet 1',
    'Rb1 win quiet 3',
    'Ra2 win quiet 9',
    'Kf5 draw quiet 0',
    'Ke6 loss quiet 6',
    'Ke5 loss quiet 4',
  ]);
  // A loss is put off first without a capture. A move that is illegal is left out.
  assert.deepEqual(order('3r3k/8/8/8/8/8/4p3/3K4 w - - 0 1', { d1e2: -20, d1c1: -8, d1c2: -2, d1d2: -9 }), [
    'Kc1 loss quiet 8',
    'Kc2 loss quiet 2',
    'Kxe2 loss capture 20',
  ]);
  // Stalemate and bare kings end the game.
  assert.deepEqual(order('7k/5Q2/8/8/8/8/8/Kr6 w - - 0 1', { a1b1: 0 }), ['Kxb1 draw stalemate 0']);
  assert.deepEqual(order('8/8/8/8/8/8/3kQ3/7K b - - 0 1', { d2e2: 0 }), ['Kxe2 draw insufficient 0']);
});

test('the 50-move rule turns results in the tablebases into draws', () => {
  const outcomes = (clock: number, dtz: number) =>
    ranked(rootOf(`7k/8/8/8/8/8/8/R3K3 w - - ${clock} 80`).position, [{ uci: 'a1a2', dtz }]).map(({ outcome }) => outcome);
  assert.deepEqual([outcomes(0, 99), outcomes(0, 100), outcomes(90, 9), outcomes(90, 10)].flat(), ['win', 'cursed', 'win', 'cursed']);
  assert.deepEqual([outcomes(90, -9), outcomes(90, -10), outcomes(90, 0)].flat(), ['loss', 'blessed', 'draw']);
});

test('a position may be in the tablebases if it has few pieces and no castling', () => {
  assert.ok(!mayBeKnown(newGame().position));
  assert.ok(!mayBeKnown(rootOf('4k3/8/8/8/8/8/8/4K2R w K - 0 1').position));
  assert.ok(mayBeKnown(rootOf('4k3/8/8/8/8/8/8/4K2R w - - 0 1').position));
});
