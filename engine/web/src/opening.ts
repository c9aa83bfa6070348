// The names of openings, by position: a transposition has the same name.

import type { Position } from 'chessops/chess';
// Lichess's list, https://github.com/lichess-org/chess-openings (CC0 1.0). scripts/update-openings
// writes the file.
import list from '../openings.txt';
import { epdOf, type TreeNode } from './tree.js';

export interface Opening {
  eco: string;
  name: string;
}

/** No opening of the list is longer, in half-moves. */
const LONGEST = 50;

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A digest of a position without its counters: 36 bits in 6 characters. */
export function keyOf(position: Position): string {
  const text = epdOf(position);
  let [one, two] = [0x811c9dc5, 0x2c1b3c6d];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ code, 0x5bd1e995);
  }
  return three(one) + three(two);
}

/** 18 bits of a number, after they are mixed. */
function three(value: number): string {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return [26, 20, 14].map((shift) => DIGITS[(mixed >>> shift) & 63]).join('');
}

/** Reads the list: a line `=NAME` for a family, then lines `KEY ECO VARIATION` for its positions. */
function read(text: string): Map<string, Opening> {
  const openings = new Map<string, Opening>();
  let family = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('=')) family = line.slice(1);
    else if (line && !line.startsWith('#')) {
      const variation = line.slice(11);
      openings.set(line.slice(0, 6), { eco: line.slice(7, 10), name: variation ? `${family}: ${variation}` : family });
    }
  }
  return openings;
}

let openings: Map<string, Opening> | null = null;
const found = new WeakMap<TreeNode, Opening>();

/** The opening of a position: that of the last position on the way to it that has a name. */
export function openingOf(node: TreeNode): Opening | null {
  openings ??= read(list);
  let last: Opening | null = null;
  for (const step of node.path().slice(0, LONGEST)) {
    const named = found.get(step) ?? openings.get(keyOf(step.position));
    if (named) found.set(step, named);
    last = named ?? last;
  }
  return last;
}

export function openingText(node: TreeNode): string {
  const opening = openingOf(node);
  return opening ? `${opening.eco} ${opening.name}` : '';
}
