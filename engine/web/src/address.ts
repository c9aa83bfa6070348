// The address of the page: its fragment leads to the position on the board, as in #ply=23, or
// #game=2&ply=23 where the page has several games. #ply=23&line=e7e5.g1f3 leads into a variation.

import type { App } from './app.js';
import type { TreeNode } from './tree.js';

/** Pause before the fragment follows the board, in milliseconds: browsers allow few changes a second. */
const PAUSE = 150;

export interface Target {
  /** From 0. */
  game: number;
  /** The position on the main line. */
  ply: number;
  /** The moves from there in a variation. */
  line: string[];
}

/** The position that a fragment leads to. */
export function targetOf(fragment: string): Target | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const of = (name: string, usual: string) => {
    const value = fields.get(name) ?? usual;
    return /^\d{1,6}$/.test(value) ? Number(value) : null;
  };
  const [game, ply] = [of('game', '1'), of('ply', '')];
  const line = (fields.get('line') ?? '').split('.').filter((uci) => uci !== '');
  return game === null || ply === null ? null : { game: Math.max(0, game - 1), ply, line };
}

/** The fragment of a position. */
export function fragmentOf({ game, ply, line }: Target, games: number): string {
  const variation = line.length ? `&line=${line.join('.')}` : '';
  return games > 1 ? `#game=${game + 1}&ply=${ply}${variation}` : `#ply=${ply}${variation}`;
}

/** The node that a target leads to in its game, as far as the game has the moves. */
export function nodeAt(root: TreeNode, { ply, line }: Target): TreeNode {
  const main = root.mainLine();
  let node = main[Math.min(ply, main.length - 1)] ?? root;
  for (const uci of line) {
    const next = node.children.find((child) => child.uci === uci);
    if (!next) break;
    node = next;
  }
  return node;
}

/** The target that leads to a node. */
export function targetTo(node: TreeNode, game: number): Target {
  const { ply } = node.onMainLine();
  return { game, ply, line: node.path().slice(ply).map((step) => step.uci) };
}

export class Address {
  private timer: number | null = null;
  /** The last fragment that the page has followed or written. */
  private known = location.hash;

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
    this.known = location.hash;
    const target = targetOf(location.hash);
    if (!target) return;
    const { recording } = this.app;
    if (recording && recording.shown !== target.game) this.open(target.game);
    this.app.go(nodeAt(this.app.root, target));
  }

  /** The position on the board has changed. */
  changed(): void {
    this.timer ??= window.setTimeout(() => this.write(), PAUSE);
  }

  private write(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    // The address has a new fragment, and its event is still to come: it leads to a position.
    if (location.hash !== this.known) return;
    const { recording, current } = this.app;
    const target = targetTo(current, recording?.shown ?? 0);
    const fragment = fragmentOf(target, recording?.count ?? 1);
    const isStart = target.ply === 0 && target.game === 0 && !target.line.length;
    if (fragment === location.hash || (isStart && !location.hash)) return;
    // Replaced, so that the back button leads to the page before this one.
    history.replaceState(null, '', fragment);
    this.known = fragment;
  }
}
