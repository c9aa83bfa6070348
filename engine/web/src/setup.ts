// A position while it is set up by hand. It may be illegal.

import type { Board } from 'chessops/board';
import { Chess } from 'chessops/chess';
import { makeFen, parseBoardFen, parseFen } from 'chessops/fen';
import type { Setup } from 'chessops/setup';
import { SquareSet } from 'chessops/squareSet';
import type { CastlingSide, Color, Piece, Square } from 'chessops/types';
import { texts } from './language.js';

export interface Right {
  color: Color;
  side: CastlingSide;
}

export const RIGHTS: readonly Right[] = [
  { color: 'white', side: 'h' },
  { color: 'white', side: 'a' },
  { color: 'black', side: 'h' },
  { color: 'black', side: 'a' },
];

export interface Draft {
  board: Board;
  turn: Color;
  /** The castling rights that are wished for; one without its king or rook does not count. */
  rights: readonly Right[];
  epSquare: Square | undefined;
  halfmoves: number;
  fullmoves: number;
}

/** Reads a FEN. Returns a sentence if it is none. */
export function draftOf(fen: string): Draft | string {
  return parseFen(fen.trim()).unwrap<Draft | string>(
    ({ board, turn, castlingRights, epSquare, halfmoves, fullmoves }) => {
      board.promoted = SquareSet.empty();
      const rights = RIGHTS.filter((right) => {
        const rook = castlingRook(board, right);
        return rook !== undefined && castlingRights.has(rook);
      });
      return { board, turn, rights, epSquare, halfmoves, fullmoves };
    },
    ({ message }) => texts.fenFaults[message] ?? texts.noFen,
  );
}

export function fenOf(draft: Draft): string {
  return makeFen(setupOf(draft));
}

/** Why the position is illegal. */
export function faultOf(draft: Draft): string | null {
  return Chess.fromSetup(setupOf(draft)).unwrap(
    () => null,
    ({ message }) => texts.setupFaults[message] ?? texts.illegal,
  );
}

/** Whether the king and a rook stand where this right needs them. */
export function mayCastle({ board }: Draft, right: Right): boolean {
  return castlingRook(board, right) !== undefined;
}

/** Puts a piece onto a square, or empties it. */
export function put(draft: Draft, square: Square, piece: Piece | null): Draft {
  const board = draft.board.clone();
  if (piece) board.set(square, piece);
  else board.take(square);
  return { ...draft, board, epSquare: undefined };
}

/** As `put`; but where the piece stands already, it is removed. */
export function toggle(draft: Draft, square: Square, piece: Piece | null): Draft {
  const there = draft.board.get(square);
  const isSame = there?.role === piece?.role && there?.color === piece?.color;
  return put(draft, square, isSame ? null : piece);
}

/** Replaces the pieces with those of the first field of a FEN. */
export function withPieces(draft: Draft, pieces: string): Draft {
  return parseBoardFen(pieces).unwrap(
    (board) => ({ ...draft, board, epSquare: undefined }),
    () => draft,
  );
}

export function withTurn(draft: Draft, turn: Color): Draft {
  return { ...draft, turn, epSquare: undefined };
}

export function withRight(draft: Draft, right: Right, on: boolean): Draft {
  return { ...draft, rights: RIGHTS.filter((one) => (one === right ? on : draft.rights.includes(one))) };
}

function setupOf({ rights, ...draft }: Draft): Setup {
  const rooks = rights.flatMap((right) => castlingRook(draft.board, right) ?? []);
  const castlingRights = rooks.reduce((set, rook) => set.with(rook), SquareSet.empty());
  return { ...draft, castlingRights, pockets: undefined, remainingChecks: undefined };
}

/** The rook of a castling right: the outermost one on its side of the king. */
function castlingRook(board: Board, { color, side }: Right): Square | undefined {
  const backrank = SquareSet.backrank(color);
  const king = board.kingOf(color);
  const rooks = board.pieces(color, 'rook').intersect(backrank);
  const rook = side === 'a' ? rooks.first() : rooks.last();
  if (king === undefined || rook === undefined || !backrank.has(king)) return undefined;
  return (side === 'a') === rook < king ? rook : undefined;
}
