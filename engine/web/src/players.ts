// The players at the board: names, captured pieces, and clocks.

import type { Color, Role } from 'chessops/types';
import { opposite } from 'chessops/util';
import type { App } from './app.js';
import { clockText, timeOf } from './clock.js';
import { byId, element } from './dom.js';
import { texts } from './language.js';
import { known } from './pgn.js';
import type { TreeNode } from './tree.js';

/** The pieces with their figures, as text and not as emoji, and their worth in pawns. */
const WORTH: [Role, string, number][] = [
  ['queen', '♛', 9],
  ['rook', '♜', 5],
  ['bishop', '♝', 3],
  ['knight', '♞', 3],
  ['pawn', '♟\uFE0E', 1],
];

/** The pieces that a side has captured on the way to a position, and its lead in pawns. */
export function captured(node: TreeNode, side: Color): string {
  const taken = node.path().flatMap((step) => step.captured ?? []);
  const pieces = WORTH.flatMap(([role, figure]) => taken.filter((one) => one.color !== side && one.role === role).map(() => figure));
  const { board } = node.position;
  const worth = (of: Color) => WORTH.reduce((sum, [role, , pawns]) => sum + pawns * board.pieces(of, role).size(), 0);
  const lead = worth(side) - worth(opposite(side));
  return pieces.join('') + (lead > 0 ? ` +${lead}` : '');
}

export class Players {
  private bottom: Color = 'white';

  constructor(private readonly app: App) {}

  /** Shows both players; `bottom` sits below the board. */
  draw(bottom: Color): void {
    this.bottom = bottom;
    for (const [id, side] of this.places()) {
      const name = known(this.app.tags, side === 'white' ? 'White' : 'Black') ?? texts.side[side];
      byId(id).replaceChildren(
        element('span', { class: 'name' }, name),
        element('span', { class: 'captured' }, captured(this.app.current, side)),
        element('span', { class: 'clock', hidden: true }),
      );
    }
    this.drawClocks();
  }

  drawClocks(): void {
    for (const [id, side] of this.places()) {
      const clock = byId(id).lastElementChild as HTMLElement;
      const running = this.app.panel().clock?.();
      const left = running ? running.left(side) : timeOf(this.app.current, side);
      clock.hidden = left === null;
      clock.classList.toggle('runs', running?.runs(side) ?? false);
      if (left !== null) clock.textContent = clockText(left);
    }
  }

  private places(): [string, Color][] {
    return [
      ['player-top', opposite(this.bottom)],
      ['player-bottom', this.bottom],
    ];
  }
}
