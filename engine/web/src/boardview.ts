// The board: pieces, moves by hand, arrows and the evaluation bar.

import { Chessground } from '@lichess-org/chessground';
import type { Api } from '@lichess-org/chessground/api';
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { chessgroundDests } from 'chessops/compat';
import type { Color, Move, Role } from 'chessops/types';
import { makeSquare, parseSquare } from 'chessops/util';
import { byId } from './dom.js';
import { askPromotion } from './question.js';
import { scoreText, wdlText, whiteShare, whiteWdl } from './score.js';
import { texts } from './texts.js';
import type { TreeNode } from './tree.js';

export interface BoardState {
  node: TreeNode;
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
      drawable: { enabled: true, defaultSnapToValidMove: true },
    });
    // The board's size follows the window, and chessground keeps pixels.
    new ResizeObserver(() => this.board.redrawAll()).observe(this.frame);
  }

  get orientation(): Color {
    return this.board.state.orientation;
  }

  flip(to: Color = this.orientation === 'white' ? 'black' : 'white'): void {
    this.board.set({ orientation: to });
    this.bar.classList.toggle('flipped', to === 'black');
  }

  show(state: BoardState): void {
    const { node, movable } = state;
    const known = this.state;
    this.state = state;
    const canMove = movable === 'both' ? node.turn : movable;
    const position = node.position;
    this.board.set({
      fen: node.fen,
      turnColor: node.turn,
      check: position.isCheck() ? node.turn : false,
      movable: {
        color: movable === 'none' ? undefined : canMove,
        dests: movable === 'none' || canMove !== node.turn ? new Map() : chessgroundDests(position),
      } as NonNullable<Parameters<Api['set']>[0]['movable']>,
      premovable: { enabled: state.premove },
      ...(node.lastMove ? { lastMove: node.lastMove as Key[] } : { lastMove: [] }),
    });
    if (known?.node !== node) {
      this.board.setShapes([]);
      this.frame.setAttribute('aria-label', described(node));
    }
    this.board.setAutoShapes(state.arrows);
    this.showEvaluation(state.evaluation ? node : null);
    if (state.premove && movable === node.turn) this.board.playPremove();
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
    if (!state) return;
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

const ORDER: Role[] = ['king', 'queen', 'rook', 'bishop', 'knight', 'pawn'];

/** The pieces in words, for those who do not see the board. */
function described(node: TreeNode): string {
  const board = node.position.board;
  const pieces = (color: Color) =>
    ORDER.flatMap((role) => [...board.pieces(color, role)].map((square) => `${texts.pieces[role]} ${makeSquare(square)}`)).join(', ');
  return `${texts.described(pieces('white'), pieces('black'))} ${texts.toMove(texts.side[node.turn])}`;
}
