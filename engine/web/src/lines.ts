// The lines of a search, whose moves can be clicked.

import type { App } from './app.js';
import { button, element } from './dom.js';
import { texts } from './language.js';
import type { Info } from './protocol.js';
import { scoreText, short } from './score.js';
import { sansOf, type TreeNode } from './tree.js';

/** Most moves of a line on the page. */
const SHOWN_MOVES = 16;

/** The depth and the speed of a search. */
export function figuresText(info: Info | null): string {
  if (!info) return '';
  return `${texts.depth(info.depth, info.seldepth)} · ${texts.nodes(short(info.nodes), short(info.nps))}`;
}

/** A row for each of `count` lines, with its score; empty where the line is not known yet. */
export function lineRows(app: App, node: TreeNode, info: Info | null, count: number): HTMLElement[] {
  return Array.from({ length: count }, (_, at) => {
    const row = element('div', { class: 'pv' });
    const line = info?.lines[at];
    if (!line) return row;
    const moves = element('span', { class: 'line' }, ...lineButtons(app, node, line.pv.slice(0, SHOWN_MOVES)));
    row.append(element('span', { class: 'score' }, scoreText(line.score, node.turn)), moves);
    return row;
  });
}

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
