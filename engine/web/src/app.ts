// The state that all parts of the page share: the game, the position on the board, and the tab.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Move } from 'chessops/types';
import type { Editing } from './boardview.js';
import type { Clock } from './clock.js';
import type { Tasks } from './engine.js';
import type { Tags } from './pgn.js';
import type { Info } from './protocol.js';
import type { Recording } from './recording.js';
import { newGame, TreeNode } from './tree.js';

export type Tab = 'play' | 'analyse' | 'why' | 'space' | 'report';

/** The content of a tab. */
export interface Panel {
  readonly element: HTMLElement;
  /** The tab is opened. */
  open?(): void;
  /** The tab is left. */
  leave(): void;
  /** Another position is on the board, or the tree has changed. */
  update(): void;
  /** Arrows on the board. */
  arrows(): DrawShape[];
  /** A move on the board. Returns whether the panel takes care of it. */
  onMove?(move: Move): boolean;
  /** The position that is set up on the board. */
  editing?(): Editing | null;
  /** The clocks that run. */
  clock?(): Clock | null;
  /** Whether the evaluation stays hidden. */
  hidesEvaluation?(): boolean;
  /** Which side may move the pieces on the board; both without it. */
  movable?(): 'white' | 'black' | 'both' | 'none';
  /** A key that only this tab knows. Returns whether it is one. */
  onKey?(key: string): boolean;
}

export class App {
  root: TreeNode = newGame();
  current: TreeNode = this.root;
  tags: Tags = new Map();
  arrowsShown = true;
  elo: [number, number] = [0, 0];
  readonly panels = new Map<Tab, Panel>();

  constructor(
    readonly engine: Tasks,
    /** The games of a report's file; none where there is an engine. */
    readonly recording: Recording | null,
    public tab: Tab,
    /** Draws the board and the evaluation again. */
    readonly redraw: () => void,
    /** Says something to people who do not see the page. */
    readonly announce: (text: string) => void,
  ) {}

  panel(): Panel {
    const panel = this.panels.get(this.tab);
    if (!panel) throw new Error(`there is no tab ${this.tab}`);
    return panel;
  }

  /** The tabs of this page. */
  get tabs(): Tab[] {
    return [...this.panels.keys()];
  }

  /** Draws everything that depends on the position or the tree. */
  update(): void {
    this.panel().update();
    this.redraw();
  }

  go(node: TreeNode): void {
    if (node === this.current) return;
    this.current = node;
    this.update();
  }

  /** Replaces the game. */
  load(root: TreeNode, tags: Tags, current: TreeNode = root): void {
    this.root = root;
    this.tags = tags;
    this.current = current;
    this.update();
  }

  openTab(tab: Tab): void {
    if (tab === this.tab || !this.panels.has(tab)) return;
    this.panel().leave();
    this.tab = tab;
    this.panel().open?.();
    this.update();
  }

  /** A person's move on the board. */
  move(move: Move): void {
    if (this.panel().onMove?.(move)) return;
    const node = this.current.play(move);
    if (!node) return;
    this.go(node);
    this.announce(`${node.number} ${node.san}`);
  }

  /** Keeps an analysis, unless a deeper one with as many lines is known. */
  learn(node: TreeNode, info: Info): void {
    const known = node.info;
    const deeper = !known || info.depth >= known.depth || info.lines.length > known.lines.length;
    if (deeper) node.info = info;
  }
}
