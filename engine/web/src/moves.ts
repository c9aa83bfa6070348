// The list of moves: the main line with its variations and comments.

import type { App } from './app.js';
import { byId, element } from './dom.js';
import { texts } from './language.js';
import { openingText } from './opening.js';
import { glyph, readable } from './pgn.js';
import type { TreeNode } from './tree.js';

const GLYPHS = { inaccuracy: '?!', mistake: '?', blunder: '??' };

export class MovesList {
  private readonly list = byId('moves');
  private readonly buttons = new Map<TreeNode, HTMLElement>();
  private readonly opening = byId('opening');
  private drawn = '';

  constructor(private readonly app: App) {}

  draw(): void {
    const app = this.app;
    // The tree as text tells whether the list has to be made again.
    const state = signature(app.root);
    if (state !== this.drawn) {
      this.drawn = state;
      this.buttons.clear();
      const comments = this.comments(app.root);
      const moves = this.line(app.root, true);
      this.list.replaceChildren(...comments, ...(moves.length ? moves : [element('p', { class: 'note' }, texts.noMoves)]));
    }
    const opening = openingText(app.current);
    if (this.opening.textContent !== opening) this.opening.textContent = this.opening.title = opening;
    this.list.querySelector('[aria-current]')?.removeAttribute('aria-current');
    const current = this.buttons.get(app.current);
    current?.setAttribute('aria-current', 'true');
    // Only the list moves, never the page.
    if (current) this.list.scrollTop = current.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
    else this.list.scrollTop = 0;
  }

  /** The moves after a node, in pairs of White's and Black's; a comment or a variation ends a pair. On
   * the main line, White's place stays empty where Black begins. Loops along the line, and recurses only
   * for variations. */
  private line(from: TreeNode, isMain: boolean, begun: HTMLElement | null = null): Node[] {
    const parts: Node[] = [];
    let pair = begun;
    for (let [main, ...others] = from.children; main; [main, ...others] = main.children) {
      const isWhite = main.parent?.turn === 'white';
      if (isWhite || !pair) {
        pair = this.pair(isMain ? main.number.replace('…', '.') : main.number);
        if (isMain && !isWhite) pair.append(element('span', { class: 'number' }, '…'));
        parts.push(pair);
      }
      pair.append(this.move(main));
      const between = [...this.comments(main), ...others.map((other) => this.variation(other))];
      parts.push(...between);
      if (between.length) pair = null;
    }
    return parts;
  }

  private variation(first: TreeNode): Node {
    const pair = this.pair(first.number);
    pair.append(this.move(first));
    const comments = this.comments(first);
    return element(
      'div',
      { class: 'variation', role: 'group', 'aria-label': `${texts.variation} ${first.number} ${first.san}` },
      pair,
      ...comments,
      ...this.line(first, false, comments.length ? null : pair),
    );
  }

  /** The beginning of a pair: its number. */
  private pair(number: string): HTMLElement {
    return element('span', { class: 'pair' }, element('span', { class: 'number' }, number), ' ');
  }

  private move(node: TreeNode): Node {
    const judgement = node.judged?.judgement;
    const button = element('button', { type: 'button', class: 'move' }, node.san);
    const mark = glyph(node.nags) || (judgement ? GLYPHS[judgement] : '');
    if (mark) button.append(element('span', { class: `glyph ${judgement ?? ''}` }, mark));
    button.addEventListener('click', () => this.app.go(node));
    this.buttons.set(node, button);
    return button;
  }

  private comments(node: TreeNode): Node[] {
    return node.comments
      .map(readable)
      .filter((text) => text !== '')
      .map((text) => element('span', { class: 'comment' }, text));
  }
}

function signature(root: TreeNode): string {
  const parts: string[] = [];
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    parts.push(node.san, String(node.ply), node.judged?.judgement ?? '', node.nags.join(), node.comments.join());
    open.push(...node.children);
  }
  return `${root.fen} ${parts.join(' ')}`;
}
