// The moves of a position in the tablebases, in lichess's order.

import { normalizeMove, type Position } from 'chessops/chess';
import { makeSan } from 'chessops/san';
import { ROLES, type Role } from 'chessops/types';
import { parseUci } from 'chessops/util';
import type { TableMove } from './protocol.js';

/** The results of a move for the side that makes it. A cursed win is a draw by the 50-move rule, and so
 * is a blessed loss. */
export const OUTCOMES = ['win', 'cursed', 'draw', 'blessed', 'loss'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Kind = 'checkmate' | 'stalemate' | 'insufficient' | 'capture' | 'pawn' | 'quiet';

export interface RankedMove {
  uci: string;
  san: string;
  outcome: Outcome;
  kind: Kind;
  /** Plies to the next capture or pawn move. */
  dtz: number;
}

/** Most pieces of a position in any tablebase. */
const MOST_PIECES = 7;

/** Whether a tablebase could know the position. */
export function mayBeKnown({ board, castles }: Position): boolean {
  return board.occupied.size() <= MOST_PIECES && castles.castlingRights.isEmpty();
}

/** The moves, best first. */
export function ranked(position: Position, moves: TableMove[]): RankedMove[] {
  const found = moves.flatMap((known) => described(position, known) ?? []);
  return found.sort((one, other) => compared(one.order, other.order)).map(({ order: _, ...move }) => move);
}

/** A move, and numbers by which it is sorted, the least ones first. */
function described(position: Position, { uci, dtz }: TableMove): (RankedMove & { order: number[] }) | null {
  const read = parseUci(uci);
  if (!read || !('from' in read)) return null;
  const move = normalizeMove(position, read);
  if (!('from' in move) || !position.isLegal(move)) return null;
  const pawn = position.board.pawn.has(move.from);
  // A pawn that leaves its file captures, en passant too. Castling goes to the square of one's own rook.
  const there = position.board.get(move.to);
  const isCapture = (pawn && (move.from - move.to) % 8 !== 0) || (!!there && there.color !== position.turn);
  const taken: Role | null = isCapture ? (there?.role ?? 'pawn') : null;
  const after = position.clone();
  after.play(move);
  const kind = after.isCheckmate()
    ? 'checkmate'
    : after.isStalemate()
      ? 'stalemate'
      : after.isInsufficientMaterial()
        ? 'insufficient'
        : isCapture
          ? 'capture'
          : pawn
            ? 'pawn'
            : 'quiet';
  const inTime = position.halfmoves < 100 && Math.abs(dtz) + after.halfmoves <= 100;
  const outcome = outcomeOf(kind === 'checkmate' ? 1 : dtz, kind === 'checkmate' ? position.halfmoves < 100 : inTime);
  // A capture or a pawn move is good unless it loses.
  const isLost = dtz < 0;
  const order = [
    OUTCOMES.indexOf(outcome),
    Number(kind !== 'checkmate'),
    Number(kind !== 'stalemate'),
    Number(kind !== 'insufficient'),
    Number((isCapture || pawn) === isLost),
    Number(isCapture === isLost),
    dtz,
    -worth(taken),
    -worth(move.promotion ?? null),
  ];
  return { uci, san: makeSan(position, move), outcome, kind, dtz: Math.abs(dtz), order };
}

function outcomeOf(dtz: number, inTime: boolean): Outcome {
  if (dtz === 0) return 'draw';
  if (dtz > 0) return inTime ? 'win' : 'cursed';
  return inTime ? 'loss' : 'blessed';
}

function worth(role: Role | null): number {
  return role ? ROLES.indexOf(role) : -1;
}

function compared(one: number[], other: number[]): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
