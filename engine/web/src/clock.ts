// The clocks of a game.

import type { Color } from 'chessops/types';
import { commandIn } from './pgn.js';
import type { TreeNode } from './tree.js';

export interface ClockState {
  /** The time left of White and Black, in milliseconds. */
  left: [number, number];
  increment: number;
}

export class Clock {
  private since: number | null = null;

  constructor(
    readonly state: ClockState,
    private side: Color = 'white',
  ) {}

  /** The clocks at the start of a game, as in `300+3`. */
  static of(control: string): ClockState {
    const [base = 0, increment = 0] = control.split('+').map((part) => Number(part) * 1000);
    return { left: [base, base], increment };
  }

  /** Lets the clock of `side` run. */
  run(side: Color): void {
    this.stop();
    this.side = side;
    this.since = performance.now();
  }

  stop(): void {
    if (this.since === null) return;
    this.state.left[index(this.side)] = this.left(this.side);
    this.since = null;
  }

  addIncrement(side: Color): void {
    this.state.left[index(side)] += this.state.increment;
  }

  left(side: Color): number {
    const used = this.since !== null && side === this.side ? performance.now() - this.since : 0;
    return Math.max(0, this.state.left[index(side)] - used);
  }

  runs(side: Color): boolean {
    return this.since !== null && this.side === side;
  }
}

function index(side: Color): 0 | 1 {
  return side === 'white' ? 0 : 1;
}

/** The time of a side after its last move, by the comment there, in milliseconds. */
export function timeOf(node: TreeNode, side: Color): number | null {
  const own = node.path().reverse().find((step) => step.parent?.turn === side);
  const parts = own && commandIn(own.comments, 'clk')?.split(':').map(Number);
  if (!parts || parts.some((part) => !(part >= 0))) return null;
  return 1000 * parts.reduce((sum, part) => 60 * sum + part, 0);
}

/** The comment after a move that has the time, as in `[%clk 0:04:05.7]`. */
export function clockComment(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(tenths / 10);
  return `[%clk ${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${tenths % 10}]`;
}

/** `4:05`, and below 20 seconds `0:07.3`. */
export function clockText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  if (milliseconds < 20_000) return `0:${two(seconds)}.${Math.floor((milliseconds % 1000) / 100)}`;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
