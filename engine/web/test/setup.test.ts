import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_FEN, INITIAL_FEN } from 'chessops/fen';
import type { Color, Role } from 'chessops/types';
import { parseSquare } from 'chessops/util';
import { draftOf, faultOf, fenOf, mayCastle, put, RIGHTS, toggle, withPieces, withRight, withTurn, type Draft } from '../src/setup.js';

function read(fen: string): Draft {
  const draft = draftOf(fen);
  assert.ok(typeof draft !== 'string', String(draft));
  return draft;
}

function placed(draft: Draft, pieces: Record<string, [Color, Role]>): Draft {
  return Object.entries(pieces).reduce((at, [name, [color, role]]) => put(at, parseSquare(name) ?? 0, { color, role }), draft);
}

test('a FEN is read and written as it is', () => {
  for (const fen of [
    INITIAL_FEN,
    EMPTY_FEN,
    'rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3',
    'r3k2r/8/8/8/8/8/8/R3K2R b Kq - 12 40',
    // Chess960.
    '1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1',
  ]) {
    assert.equal(fenOf(read(fen)), fen);
  }
  assert.equal(fenOf(read(' 8/8/8/8/8/8/8/8 ')), EMPTY_FEN);
  // A right without its rook is none.
  assert.equal(fenOf(read('4k3/8/8/8/8/8/8/R3K3 w KQkq - 0 1')), '4k3/8/8/8/8/8/8/R3K3 w Q - 0 1');
});

test('a text that is no FEN is refused with the field that is wrong', () => {
  for (const [fen, fault] of [
    ['', /eight ranks/],
    ['8/8/8/8/8/8/8 w - - 0 1', /eight ranks/],
    ['8/8/8/8/8/8/8/8 white', /side to move/],
    ['8/8/8/8/8/8/8/8 w x', /castling/],
    ['8/8/8/8/8/8/8/8 w - e9', /en passant/],
    ['8/8/8/8/8/8/8/8 w - - x', /halfmove/],
    ['8/8/8/8/8/8/8/8 w - - 0 x', /move number/],
  ] as const) {
    const read = draftOf(fen);
    assert.match(typeof read === 'string' ? read : fenOf(read), fault, fen);
  }
});

test('an illegal position is refused with its reason', () => {
  const kings = placed(read(EMPTY_FEN), { e1: ['white', 'king'], e8: ['black', 'king'] });
  assert.equal(faultOf(kings), null);
  assert.match(faultOf(read(EMPTY_FEN)) ?? '', /empty/);
  assert.match(faultOf(put(kings, 4, null)) ?? '', /one king/);
  assert.match(faultOf(placed(kings, { d1: ['white', 'king'] })) ?? '', /one king/);
  assert.match(faultOf(placed(kings, { a8: ['white', 'pawn'] })) ?? '', /pawn/);
  const check = placed(kings, { e5: ['white', 'rook'] });
  assert.match(faultOf(check) ?? '', /in check/);
  assert.equal(faultOf(withTurn(check, 'black')), null);
});

test('castling follows the king and the rooks', () => {
  const [short, long] = RIGHTS;
  assert.ok(short && long);
  const start = read('4k3/8/8/8/8/8/8/R3K2R w - - 0 1');
  const both = withRight(withRight(start, short, true), long, true);
  assert.match(fenOf(both), / KQ /);
  const away = put(both, 7, null);
  assert.ok(!mayCastle(away, short) && mayCastle(away, long));
  assert.match(fenOf(away), / Q /);
  // The wish comes back with the rook.
  assert.match(fenOf(placed(away, { h1: ['white', 'rook'] })), / KQ /);
  assert.match(fenOf(withRight(both, long, false)), / K /);
});

test('pieces are put, replaced, and removed by putting them again', () => {
  const [white, black] = [{ color: 'white', role: 'queen' }, { color: 'black', role: 'queen' }] as const;
  const one = toggle(read(EMPTY_FEN), 0, white);
  assert.match(fenOf(one), /^8\/8\/8\/8\/8\/8\/8\/Q7 /);
  assert.match(fenOf(toggle(one, 0, black)), /\/q7 /);
  assert.equal(fenOf(toggle(one, 0, white)), EMPTY_FEN);
  assert.equal(fenOf(put(one, 0, null)), EMPTY_FEN);
  // A change of the pieces or of the side to move ends the right to capture en passant.
  const enPassant = read('4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 3');
  for (const other of [withTurn(enPassant, 'black'), put(enPassant, 0, white), withPieces(enPassant, '4k3/8/8/3pP3/8/8/8/4K3')]) {
    assert.match(fenOf(other), / - - 0 3$/);
  }
});
