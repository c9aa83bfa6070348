// The keys, as on lichess.

import type { App } from './app.js';
import { texts } from './language.js';
import type { TreeNode } from './tree.js';

export interface Commands {
  flip(): void;
  help(): void;
  typeMove(): void;
  toggleArrows(): void;
}

export function listen(app: App, commands: Commands): void {
  // After a click by hand, the keys belong to the game again.
  document.addEventListener('click', (event) => {
    if (event.detail > 0) (event.target as HTMLElement).closest<HTMLElement>('button, summary')?.blur();
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const target = event.target as HTMLElement;
    if (target.closest('input, select, textarea, dialog, [role="tablist"], [role="application"]')) return;
    const pressed = event.key;
    const onButton = target.closest('button, summary');
    // Enter and Space press what has the focus.
    if (onButton && (pressed === 'Enter' || pressed === ' ')) return;
    if (handle(app, commands, pressed, event.shiftKey)) event.preventDefault();
  });
}

function handle(app: App, commands: Commands, key: string, shift: boolean): boolean {
  const move = app.panel().editing?.() ? null : navigation(app.current, key, shift);
  if (move) {
    app.go(move);
    app.announce(move.parent ? `${move.number} ${move.san}` : texts.start);
    return true;
  }
  if (app.panel().onKey?.(key)) return true;
  const tab = app.tabs[Number(key) - 1];
  if (key === 'f') commands.flip();
  else if (key === '?') commands.help();
  else if (key === 'Enter') commands.typeMove();
  else if (key === 'a') commands.toggleArrows();
  else if (tab && /^[1-5]$/.test(key)) app.openTab(tab);
  else return false;
  return true;
}

/** The node that a key leads to. */
function navigation(node: TreeNode, key: string, shift: boolean): TreeNode | null {
  switch (key) {
    case 'ArrowLeft':
    case 'k':
      return shift ? forkBefore(node) : (node.parent ?? node);
    case 'ArrowRight':
    case 'j':
      return shift ? forkAfter(node) : (node.children[0] ?? node);
    case 'ArrowUp':
    case 'Home':
    case '0':
      return node.root();
    case 'ArrowDown':
    case 'End':
    case '$':
      return node.last();
    default:
      return null;
  }
}

/** The position before the variation, or the fork before. */
function forkBefore(node: TreeNode): TreeNode {
  let at = node;
  while (at.parent) {
    const isVariation = at.parent.children[0] !== at;
    at = at.parent;
    if (isVariation || at.children.length > 1) break;
  }
  return at;
}

function forkAfter(node: TreeNode): TreeNode {
  let at = node;
  while (at.children[0]) {
    at = at.children[0];
    if (at.children.length > 1) break;
  }
  return at;
}
