// The address of the page: its fragment leads to the position on the board, as in #ply=23, or
// #game=2&ply=23 where the page has several games.

import type { App } from './app.js';

/** Pause before the fragment follows the board, in milliseconds: browsers allow few changes a second. */
const PAUSE = 150;

export interface Target {
  /** From 0. */
  game: number;
  ply: number;
}

/** The position that a fragment leads to. */
export function targetOf(fragment: string): Target | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const of = (name: string, usual: string) => {
    const value = fields.get(name) ?? usual;
    return /^\d{1,6}$/.test(value) ? Number(value) : null;
  };
  const [game, ply] = [of('game', '1'), of('ply', '')];
  return game === null || ply === null ? null : { game: Math.max(0, game - 1), ply };
}

/** The fragment of a position. */
export function fragmentOf({ game, ply }: Target, games: number): string {
  return games > 1 ? `#game=${game + 1}&ply=${ply}` : `#ply=${ply}`;
}

export class Address {
  private timer: number | null = null;

  constructor(
    private readonly app: App,
    /** Opens a game of the page. */
    private readonly open: (game: number) => void,
  ) {
    addEventListener('hashchange', () => this.follow());
    addEventListener('pagehide', () => this.write());
  }

  /** Goes where the fragment leads, if it leads anywhere. */
  follow(): void {
    const target = targetOf(location.hash);
    if (!target) return;
    const { recording } = this.app;
    if (recording && recording.shown !== target.game) this.open(target.game);
    const line = this.app.root.mainLine();
    const node = line[Math.min(target.ply, line.length - 1)];
    if (node) this.app.go(node);
  }

  /** The position on the board has changed. */
  changed(): void {
    this.timer ??= window.setTimeout(() => this.write(), PAUSE);
  }

  private write(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { recording, current } = this.app;
    const target = { game: recording?.shown ?? 0, ply: current.onMainLine().ply };
    const fragment = fragmentOf(target, recording?.count ?? 1);
    const isStart = target.ply === 0 && target.game === 0;
    if (fragment === location.hash || (isStart && !location.hash)) return;
    // Replaced, so that the back button leads to the page before this one.
    history.replaceState(null, '', fragment);
  }
}
