// Lines of moves whose moves can be clicked.

import type { App } from './app.js';
import { button } from './dom.js';
import { texts } from './language.js';
import { sansOf, type TreeNode } from './tree.js';

/** A button for each move of a line from a position, with move numbers. A click plays the line up to the move. */
export function lineButtons(app: App, from: TreeNode, line: string[]): HTMLButtonElement[] {
  const sans = sansOf(from.position, line);
  return sans.map((san, at) => {
    const label = texts.playLine(sans.slice(0, at + 1).join(' '));
    return button(numbered(from, san, at), () => follow(app, from, line.slice(0, at + 1)), { 'aria-label': label });
  });
}

/** A line from a position as text, with move numbers. */
export function lineText(from: TreeNode, line: string[]): string {
  return sansOf(from.position, line).map((san, at) => numbered(from, san, at)).join(' ');
}

/** `12. Nf3`, or `12… Nf6` at the beginning. */
function numbered(from: TreeNode, san: string, at: number): string {
  const half = at + (from.turn === 'white' ? 0 : 1);
  const number = from.position.fullmoves + Math.floor(half / 2);
  if (half % 2 === 0) return `${number}. ${san}`;
  return at === 0 ? `${number}… ${san}` : san;
}

function follow(app: App, from: TreeNode, line: string[]): void {
  let node = from;
  for (const uci of line) node = node.playUci(uci) ?? node;
  app.go(node);
}
