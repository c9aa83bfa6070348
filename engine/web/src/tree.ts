// A game as a tree: the first position, and moves with variations.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { Chess, castlingSide, normalizeMove, type Position } from 'chessops/chess';
import { INITIAL_FEN, makeFen, parseFen } from 'chessops/fen';
import { makeSan, parseSan } from 'chessops/san';
import type { Color, Move, NormalMove, Piece } from 'chessops/types';
import { kingCastlesTo, makeSquare, makeUci, parseUci } from 'chessops/util';
import type { GameLine } from './engine.js';
import { texts } from './language.js';
import type { Evaluated, Info, Judged } from './protocol.js';

export class TreeNode {
  readonly children: TreeNode[] = [];
  comments: string[] = [];
  nags: number[] = [];
  /** The deepest analysis so far. */
  info: Info | null = null;
  /** The analysis of the report. */
  judged: Judged | null = null;

  constructor(
    readonly position: Position,
    readonly parent: TreeNode | null,
    readonly move: NormalMove | null,
    readonly san: string,
    readonly ply: number,
  ) {}

  get fen(): string {
    return makeFen(this.position.toSetup());
  }

  get turn(): Color {
    return this.position.turn;
  }

  /** The squares of the move that led here, as a person sees it: castling ends on the king's square. */
  get lastMove(): [Key, Key] | null {
    if (!this.move || !this.parent) return null;
    return squaresOf(this.parent.position, this.move);
  }

  /** The piece that the move that led here captured. */
  get captured(): Piece | null {
    if (!this.move || !this.parent) return null;
    const { board, turn } = this.parent.position;
    const [mover, on] = [board.get(this.move.from), board.get(this.move.to)];
    // Castling goes to the square of one's own rook.
    if (on) return on.color === turn ? null : on;
    const isEnPassant = mover?.role === 'pawn' && (this.move.from - this.move.to) % 8 !== 0;
    return isEnPassant ? { role: 'pawn', color: this.turn } : null;
  }

  /** The move that led here in UCI notation; castling is the king's move to its rook. */
  get uci(): string {
    return this.move ? makeUci(this.move) : '';
  }

  /** `12.` or `12…`, for the move that led here. */
  get number(): string {
    const before = this.parent;
    if (!before) return '';
    return `${before.position.fullmoves}${before.turn === 'white' ? '.' : '…'}`;
  }

  /** The evaluation of the position: the result if the game is over, else that of the engine. */
  get evaluated(): Evaluated | null {
    if (this.position.isCheckmate()) return { score: { mate: 0, win_probability: 0 }, wdl: null };
    if (this.position.isEnd()) return { score: { cp: 0, win_probability: 0.5 }, wdl: null };
    return this.info?.lines[0] ?? this.judged;
  }

  /** Nodes from the root to this one, without the root. */
  path(): TreeNode[] {
    const nodes: TreeNode[] = [];
    for (let node: TreeNode = this; node.parent; node = node.parent) nodes.unshift(node);
    return nodes;
  }

  root(): TreeNode {
    return this.path()[0]?.parent ?? this;
  }

  /** Plays a legal move: the known child, or a new one. */
  play(move: Move): TreeNode | null {
    const child = this.after(move);
    child?.add();
    return child;
  }

  /** What `play` returns, but a new child is not added to the tree. */
  after(move: Move): TreeNode | null {
    if (!('from' in move)) return null;
    const normal = normalizeMove(this.position, move) as NormalMove;
    if (!this.position.isLegal(normal)) return null;
    const uci = makeUci(normal);
    const known = this.children.find((child) => child.uci === uci);
    if (known) return known;
    const san = makeSan(this.position, normal);
    const after = this.position.clone();
    after.play(normal);
    return new TreeNode(after, this, normal, san, this.ply + 1);
  }

  /** Plays a move in UCI notation. */
  playUci(uci: string): TreeNode | null {
    const move = parseUci(uci);
    return move ? this.play(move) : null;
  }

  /** Plays a move as a person types it. */
  playText(text: string): TreeNode | null {
    const move = this.read(text);
    return move ? this.play(move) : null;
  }

  /** A legal move in SAN or UCI notation. The letter of a piece may be small: `bxc3` is a move of the
   * bishop unless a pawn can make it. */
  read(text: string): Move | null {
    const typed = text.trim();
    const castling = typed.replace(/[0o]/g, 'O');
    const bySan = parseSan(this.position, typed) ?? parseSan(this.position, castling);
    if (bySan) return bySan;
    const byUci = parseUci(typed.toLowerCase());
    // `b1d2` is no move of a bishop on the first rank.
    if (!byUci || !('from' in byUci)) return parseSan(this.position, typed.charAt(0).toUpperCase() + typed.slice(1)) ?? null;
    const normal = normalizeMove(this.position, byUci);
    return this.position.isLegal(normal) ? normal : null;
  }

  /** Adds this node to the tree, unless it is there. */
  add(): void {
    const siblings = this.parent?.children;
    if (siblings && !siblings.includes(this)) siblings.push(this);
  }

  remove(): void {
    if (!this.parent) return;
    const siblings = this.parent.children;
    siblings.splice(siblings.indexOf(this), 1);
  }

  /** Makes the line through this node the first one at every fork. */
  promote(): void {
    for (const node of this.path()) {
      const siblings = node.parent?.children ?? [];
      const place = siblings.indexOf(node);
      // A node that was deleted from its tree has no place.
      if (place < 0) continue;
      siblings.splice(place, 1);
      siblings.unshift(node);
    }
  }

  isOnMainLine(): boolean {
    return this.onMainLine() === this;
  }

  /** This position, or that of the main line where the variation with this position begins. */
  onMainLine(): TreeNode {
    const path = this.path();
    const variation = path.find((node) => node.parent?.children[0] !== node);
    return variation?.parent ?? this;
  }

  /** The line from this node on, by first children, this node included. */
  mainLine(): TreeNode[] {
    const nodes: TreeNode[] = [];
    for (let node: TreeNode | undefined = this; node; node = node.children[0]) nodes.push(node);
    return nodes;
  }

  /** The end of that line. */
  last(): TreeNode {
    return this.mainLine().at(-1) ?? this;
  }
}

/** The position without its counters: equal texts are the same position. */
export function epdOf(position: Position): string {
  return makeFen(position.toSetup(), { epd: true });
}

/** The squares that a person sees a move start and end on. */
function squaresOf(position: Position, move: NormalMove): [Key, Key] {
  const side = castlingSide(position, move);
  const to = side ? kingCastlesTo(position.turn, side) : move.to;
  return [makeSquare(move.from), makeSquare(to)];
}

/** The tree of a position without moves. Throws an error with a readable message. */
export function rootOf(fen: string): TreeNode {
  const position = parseFen(fen).chain((setup) => Chess.fromSetup(setup));
  return position.unwrap(
    (start) => new TreeNode(start, null, null, '', 0),
    () => {
      throw new Error(texts.noPosition(fen));
    },
  );
}

export function newGame(): TreeNode {
  return rootOf(INITIAL_FEN);
}

/** What the engine needs to know of a position: the first one and the moves. */
export function gameLine(node: TreeNode): GameLine {
  return { fen: node.root().fen, moves: node.path().map((step) => step.san) };
}

/** The last node of a copy of the line up to `node`, with comments and without variations. */
export function lineTo(node: TreeNode): TreeNode {
  return node.path().reduce((at, { uci, comments }) => {
    const next = at.playUci(uci) ?? at;
    next.comments = [...comments];
    return next;
  }, rootOf(node.root().fen));
}

/** SANs of a line of UCI moves. */
export function sansOf(position: Position, line: string[]): string[] {
  const at = position.clone();
  const sans: string[] = [];
  for (const uci of line) {
    const read = parseUci(uci);
    if (!read || !('from' in read)) break;
    const move = normalizeMove(at, read);
    if (!at.isLegal(move)) break;
    sans.push(makeSan(at, move));
    at.play(move);
  }
  return sans;
}

/** The arrow of a UCI move; none without one. */
export function arrowOf(position: Position, uci: string | null | undefined, brush: string): DrawShape[] {
  const read = uci ? parseUci(uci) : undefined;
  if (!read || !('from' in read)) return [];
  const [orig, dest] = squaresOf(position, normalizeMove(position, read) as NormalMove);
  return [{ orig, dest, brush }];
}
