// The clocks of a game.

import type { Color } from 'chessops/types';

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

  static of(control: string): ClockState {
    const [base, increment] = control.split('+').map((part) => Number(part) * 1000);
    return { left: [base ?? 0, base ?? 0], increment: increment ?? 0 };
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

/** `4:05`, and below 20 seconds `0:07.3`. */
export function clockText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  if (milliseconds < 20_000) return `0:${two(seconds)}.${Math.floor((milliseconds % 1000) / 100)}`;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
