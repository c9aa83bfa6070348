// The tablebases' moves for the position on the board.

import type { App } from '../app.js';
import { choices } from '../choices.js';
import { element } from '../dom.js';
import { texts } from '../language.js';
import type { TableMove } from '../protocol.js';
import { mayBeKnown, ranked, type RankedMove } from '../tables.js';
import type { TreeNode } from '../tree.js';

export class TablesView {
  readonly element = element('section', { id: 'tables', hidden: true, 'aria-labelledby': 'tables-title' });
  private readonly known = new WeakMap<TreeNode, RankedMove[]>();
  private drawn: RankedMove[] | undefined;

  constructor(private readonly app: App) {}

  /** Whether the engine has to be asked about a position. */
  lacks(node: TreeNode): boolean {
    return !this.known.has(node) && mayBeKnown(node.position);
  }

  /** Keeps the engine's answer; it is empty if the tablebases do not know the position. */
  learn(node: TreeNode, moves: TableMove[]): void {
    this.known.set(node, ranked(node.position, moves));
  }

  draw(): void {
    const node = this.app.current;
    const moves = this.known.get(node);
    if (moves === this.drawn) return;
    this.drawn = moves;
    this.element.hidden = !moves?.length;
    if (!moves) return;
    const rows = moves.map((move) => ({
      uci: move.uci,
      san: move.san,
      cells: [
        element('span', { class: `outcome ${move.outcome}` }, texts.outcomes[move.outcome]),
        move.kind === 'quiet' ? (move.dtz ? texts.dtz(move.dtz) : '') : texts.kinds[move.kind],
      ],
    }));
    const title = element('h2', { id: 'tables-title', title: texts.tablesHint }, texts.tables);
    this.element.replaceChildren(title, choices(this.app, node, texts.tablesColumns, rows));
  }
}
