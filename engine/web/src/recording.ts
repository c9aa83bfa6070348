// The games of a report's file, with the analysis that was made before.

import { tagsOf, treeOf, type Tags } from './pgn.js';
import type { GameText, Judged, Neighbours, Place, Sampled, Space } from './protocol.js';
import type { TreeNode } from './tree.js';

/** A game as engine/src/report/page.rs writes it. */
interface RecordedGame extends GameText {
  /** The positions of the main line. */
  judged: Judged[];
  path: Place[];
  near: Neighbours[];
}

export interface Recorded {
  credit: string;
  board_credit: string;
  weights: Space['weights'];
  sample: Sampled[];
  games: RecordedGame[];
}

export class Recording {
  /** The game on the board. */
  shown = 0;

  constructor(private readonly data: Recorded) {}

  get credits(): string[] {
    return [this.data.credit, this.data.board_credit];
  }

  get count(): number {
    return this.data.games.length;
  }

  get tags(): Tags[] {
    return this.data.games.map(tagsOf);
  }

  /** The game with a number, or the first. */
  open(at: number): { root: TreeNode; tags: Tags } {
    this.shown = this.data.games[at] ? at : 0;
    const game = this.game();
    const read = treeOf(game);
    read.root.mainLine().forEach((node, ply) => (node.judged = game.judged[ply] ?? null));
    return read;
  }

  /** The places of the game. A position of a variation stands where the variation begins. */
  space(node: TreeNode, withSample: boolean): Space {
    const game = this.game();
    const { ply } = node.onMainLine();
    return {
      weights: this.data.weights,
      path: game.path.slice(0, ply + 1),
      ahead: game.path.slice(ply),
      candidates: [],
      ...(game.near[ply] ?? { near: [], alike: false }),
      ...(withSample ? { sample: this.data.sample } : {}),
    };
  }

  private game(): RecordedGame {
    const game = this.data.games[this.shown];
    if (!game) throw new Error('the file has no game');
    return game;
  }
}

/** The games in this file, if it is a report. */
export function recordingHere(): Recording | null {
  const text = document.getElementById('data')?.textContent;
  return text ? new Recording(JSON.parse(text) as Recorded) : null;
}
