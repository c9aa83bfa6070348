// The board: pieces, moves by hand, arrows and the evaluation bar.

import { Chessground } from '@lichess-org/chessground';
import type { Api } from '@lichess-org/chessground/api';
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { chessgroundDests } from 'chessops/compat';
import { ROLES, type Color, type Move, type Piece, type Square } from 'chessops/types';
import { makeSquare, opposite, parseSquare } from 'chessops/util';
import { byId } from './dom.js';
import { texts } from './language.js';
import { askPromotion } from './question.js';
import { scoreText, wdlText, whiteShare, whiteWdl } from './score.js';
import type { TreeNode } from './tree.js';

/** A position that is set up on the board, in place of the game's. */
export interface Editing {
  /** The first field of its FEN. */
  readonly pieces: string;
  /** The square that keys act on. */
  readonly cursor: Square;
  /** Pieces were moved by hand. */
  moved(pieces: string): void;
  /** A square is pressed. Returns whether that changes it; otherwise its piece can be moved. */
  press(square: Square): boolean;
  /** A key on the board. Returns whether it has a meaning there. */
  onKey(key: string, orientation: Color): boolean;
}

/** Drags a new piece to the board; `end` hears whether it was dropped there. */
export type Grab = (piece: Piece, event: MouseEvent | TouchEvent, end: (dropped: boolean) => void) => void;

export interface BoardState {
  node: TreeNode;
  editing: Editing | null;
  movable: 'white' | 'black' | 'both' | 'none';
  arrows: DrawShape[];
  premove: boolean;
  /** Whether the bar shows the evaluation. */
  evaluation: boolean;
}

export class BoardView {
  private readonly board: Api;
  private readonly frame = byId('board');
  private readonly bar = byId('evaluation');
  private state: BoardState | null = null;

  constructor(private readonly onMove: (move: Move) => void) {
    const moving = !window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.board = Chessground(this.frame, {
      coordinates: true,
      animation: { enabled: moving, duration: 150 },
      movable: { free: false, events: { after: (from, to) => void this.moved(from, to) } },
      events: { change: () => this.state?.editing?.moved(this.board.getFen()) },
      drawable: { enabled: true, defaultSnapToValidMove: true },
    });
    // The board's size follows the window, and chessground keeps pixels.
    new ResizeObserver(() => this.board.redrawAll()).observe(this.frame);
    for (const type of ['mousedown', 'touchstart'] as const) {
      this.frame.addEventListener(type, (event) => this.press(event), { capture: true, passive: false });
    }
    this.frame.addEventListener('keydown', (event) => this.onKey(event));
  }

  get orientation(): Color {
    return this.board.state.orientation;
  }

  flip(to: Color = opposite(this.orientation)): void {
    this.board.set({ orientation: to });
    this.bar.classList.toggle('flipped', to === 'black');
  }

  grab: Grab = (piece, event, end) => {
    this.board.dragNewPiece(piece, event, true);
    const type = event.type === 'touchstart' ? 'touchend' : 'mouseup';
    document.addEventListener(type, (last) => end(this.squareAt(last) !== undefined), { capture: true, once: true });
  };

  show(state: BoardState): void {
    const { node, movable, editing } = state;
    const known = this.state;
    this.state = state;
    if (editing !== (known?.editing ?? null)) this.beginOrEnd(editing);
    this.showEvaluation(state.evaluation && !editing ? node : null);
    if (editing) {
      this.board.set({
        fen: editing.pieces,
        check: false,
        lastMove: [],
        movable: { free: true, color: 'both', dests: new Map() },
        premovable: { enabled: false },
        highlight: { custom: new Map([[makeSquare(editing.cursor), 'cursor']]) },
      });
      this.board.setAutoShapes([]);
      return;
    }
    const canMove = movable === 'both' ? node.turn : movable;
    const position = node.position;
    this.board.set({
      fen: node.fen,
      turnColor: node.turn,
      check: position.isCheck() ? node.turn : false,
      movable: {
        free: false,
        color: movable === 'none' ? undefined : canMove,
        dests: movable === 'none' || canMove !== node.turn ? new Map() : chessgroundDests(position),
      } as NonNullable<Parameters<Api['set']>[0]['movable']>,
      premovable: { enabled: state.premove },
      lastMove: node.lastMove ?? [],
    });
    if (known?.node !== node || known.editing) {
      this.board.setShapes([]);
      this.frame.setAttribute('aria-label', described(node));
    }
    this.board.setAutoShapes(state.arrows);
    if (state.premove && movable === node.turn) this.board.playPremove();
  }

  /** The board becomes an editor, or is one no longer. */
  private beginOrEnd(editing: Editing | null): void {
    this.board.selectSquare(null);
    this.board.set({ autoCastle: !editing, draggable: { deleteOnDropOff: !!editing }, highlight: { custom: new Map() } });
    this.frame.setAttribute('role', editing ? 'application' : 'img');
    if (editing) {
      this.frame.setAttribute('aria-label', texts.editorBoard);
      this.frame.tabIndex = 0;
    } else this.frame.removeAttribute('tabindex');
  }

  /** The square under the pointer. */
  private squareAt(event: MouseEvent | TouchEvent): Square | undefined {
    const point = 'changedTouches' in event ? event.changedTouches[0] : event;
    const key = point && this.board.getKeyAtDomPos([point.clientX, point.clientY]);
    return key && parseSquare(key);
  }

  private press(event: MouseEvent | TouchEvent): void {
    const editing = this.state?.editing;
    if (!editing || ('button' in event && event.button !== 0)) return;
    const square = this.squareAt(event);
    if (square === undefined || !editing.press(square)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private onKey(event: KeyboardEvent): void {
    const editing = this.state?.editing;
    if (!editing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      if (!editing.press(editing.cursor)) this.board.selectSquare(makeSquare(editing.cursor));
    } else if (!editing.onKey(event.key, this.orientation)) return;
    event.preventDefault();
  }

  private showEvaluation(node: TreeNode | null): void {
    // Until the engine answers, the bar stays where it was before the move.
    let last = node;
    while (last?.parent && !last.evaluated) last = last.parent;
    const share = last?.evaluated ? whiteShare(last.evaluated, last.turn) : 0.5;
    this.bar.style.setProperty('--white', share.toFixed(4));
    const found = node?.evaluated;
    const text = node && found ? scoreText(found.score, node.turn) : '';
    byId('evaluation-text').textContent = text;
    const chances = node && found?.wdl ? wdlText(whiteWdl(found.wdl, node.turn)) : '';
    this.bar.setAttribute('aria-label', texts.evaluation(text || '–', chances));
    this.bar.title = texts.evaluation(text || '–', chances);
  }

  private async moved(from: Key, to: Key): Promise<void> {
    const state = this.state;
    if (!state || state.editing) return;
    const [start, end] = [parseSquare(from), parseSquare(to)];
    if (start === undefined || end === undefined) return;
    const position = state.node.position;
    const pawn = position.board.get(start)?.role === 'pawn';
    const rank = makeSquare(end)[1];
    const move: Move = { from: start, to: end };
    if (pawn && (rank === '1' || rank === '8')) {
      const role = await askPromotion(position.turn);
      if (!role) {
        this.show(state);
        return;
      }
      move.promotion = role;
    }
    this.onMove(move);
    // Where the move was not played, the pieces go back.
    if (this.state === state) this.show(state);
  }
}

/** The pieces in words, for those who do not see the board. */
function described(node: TreeNode): string {
  const board = node.position.board;
  const pieces = (color: Color) =>
    [...ROLES].reverse().flatMap((role) => [...board.pieces(color, role)].map((square) => `${texts.pieces[role]} ${makeSquare(square)}`)).join(', ');
  return `${texts.described(pieces('white'), pieces('black'))} ${texts.toMove(texts.side[node.turn])}`;
}
