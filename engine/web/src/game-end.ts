// How a game ends by the rules.

import type { Color } from 'chessops/types';
import { opposite } from 'chessops/util';
import { texts } from './language.js';
import { epdOf, type TreeNode } from './tree.js';

export interface End {
  result: '1-0' | '0-1' | '1/2-1/2';
  words: string;
}

export function lossOf(side: Color, words: string): End {
  return { result: side === 'white' ? '0-1' : '1-0', words };
}

export function draw(words: string): End {
  return { result: '1/2-1/2', words };
}

/** The end that the rules give; the engine counts the same. */
export function endOf(node: TreeNode): End | null {
  const position = node.position;
  if (position.isCheckmate()) return lossOf(node.turn, texts.results.checkmate(texts.side[opposite(node.turn)]));
  if (position.isStalemate()) return draw(texts.results.stalemate);
  if (position.isInsufficientMaterial()) return draw(texts.results.insufficient);
  if (position.halfmoves >= 100) return draw(texts.results.fifty);
  const here = epdOf(position);
  let times = 0;
  for (let at: TreeNode | null = node; at; at = at.parent) if (epdOf(at.position) === here) times += 1;
  return times >= 3 ? draw(texts.results.repetition) : null;
}

/** Whether a side has more than its king, so that it can win on time. */
export function canWin(node: TreeNode, side: Color): boolean {
  return node.position.board[side].size() > 1;
}
