// Positions of the tests.

import assert from 'node:assert/strict';
import { newGame, rootOf, type TreeNode } from '../src/tree.js';

/** The position after moves in SAN. */
export function played(sans: string, fen?: string): TreeNode {
  return sans.split(' ').reduce<TreeNode>((node, san) => {
    const next = san ? node.playText(san) : node;
    assert.ok(next, san);
    return next;
  }, fen ? rootOf(fen) : newGame());
}
