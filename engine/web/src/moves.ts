// The list of moves: the main line with its variations and comments.

import type { App } from './app.js';
import { byId, element } from './dom.js';
import { openingText } from './opening.js';
import { glyph, readable } from './pgn.js';
import { texts } from './texts.js';
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

  /** The moves after a node. Loops along the line, and recurses only for variations. */
  private line(from: TreeNode, numberFirst: boolean): (Node | string)[] {
    const parts: (Node | string)[] = [];
    let numbered = numberFirst;
    for (let node = from; node.children[0]; node = node.children[0]) {
      const [main, ...others] = node.children;
      if (!main) break;
      parts.push(this.move(main, numbered));
      const comments = this.comments(main);
      parts.push(...comments);
      for (const other of others) {
        parts.push(this.variation(other));
      }
      numbered = comments.length > 0 || others.length > 0;
    }
    return parts;
  }

  private variation(first: TreeNode): Node {
    return element(
      'div',
      { class: 'variation', role: 'group', 'aria-label': `${texts.variation} ${first.number} ${first.san}` },
      this.move(first, true),
      ...this.comments(first),
      ...this.line(first, false),
    );
  }

  private move(node: TreeNode, numbered: boolean): Node {
    const judgement = node.judged?.judgement;
    const button = element('button', { type: 'button', class: 'move' });
    const withNumber = numbered || node.parent?.turn === 'white';
    if (withNumber) button.append(element('span', { class: 'number' }, node.number), ' ');
    button.append(node.san);
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
