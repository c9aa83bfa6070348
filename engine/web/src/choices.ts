// Tables of moves that can be played.

import type { App } from './app.js';
import { button, element } from './dom.js';
import { texts } from './language.js';
import type { TreeNode } from './tree.js';

export interface Choice {
  uci: string;
  san: string;
  cells: (Node | string)[];
}

/** A table of moves from a position. A click on one plays it. */
export function choices(app: App, from: TreeNode, columns: string[], rows: Choice[], all: (Node | string)[] | null = null): HTMLElement {
  const head = element('tr', {}, ...columns.map((name) => element('th', { scope: 'col' }, name)));
  const body = rows.map(({ uci, san, cells }) => {
    const play = button(san, () => app.go(from.playUci(uci) ?? from), { 'aria-label': texts.playLine(san) });
    return element('tr', {}, element('td', {}, play), ...cells.map((cell) => element('td', {}, cell)));
  });
  if (all) body.push(element('tr', {}, ...all.map((cell) => element('td', {}, cell))));
  return element('div', { class: 'choices' }, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)));
}
