// Accuracy of a side, by lichess's formulas: each move's accuracy from the win percentages before
// and after it, and their mean, weighted by how much the game swings around each move. Also the average
// centipawn loss.

import type { Color } from 'chessops/types';
import type { Score } from './protocol.js';
import { expectedScore } from './score.js';
import type { TreeNode } from './tree.js';

/** Largest score that counts, in centipawns; a mate is as much. */
const LARGEST = 1000;

/** White's score of a judged position, in centipawns. */
function centipawns({ cp = 0, mate }: Score, turn: Color): number {
  const own = mate === undefined ? Math.max(-LARGEST, Math.min(LARGEST, cp)) : mate > 0 ? LARGEST : -LARGEST;
  return turn === 'white' ? own : -own;
}

/** Average centipawn loss of White and of Black in a line of judged positions. */
export function averageLoss(line: TreeNode[]): [number | null, number | null] {
  const scores = line.map(({ judged, turn }) => (judged ? centipawns(judged.score, turn) : 0));
  return (['white', 'black'] as const).map((side) => {
    const losses = line.flatMap(({ parent }, at) => {
      if (!at || parent?.turn !== side) return [];
      const change = (scores[at - 1] ?? 0) - (scores[at] ?? 0);
      return [Math.max(0, side === 'white' ? change : -change)];
    });
    return losses.length ? losses.reduce((sum, loss) => sum + loss, 0) / losses.length : null;
  }) as [number | null, number | null];
}

/** The win percentage of White, on lichess's scale, of a judged position. Near equality, a move loses
 * twice as much expected score as win percentage. */
export function winPercentage({ judged, turn }: TreeNode): number {
  const ahead = judged ? expectedScore(judged) - 0.5 : 0;
  return 50 + 50 * (turn === 'white' ? ahead : -ahead);
}

/** Accuracy of a move in percent, from win percentages of the side that moves. */
export function moveAccuracy(before: number, after: number): number {
  if (after >= before) return 100;
  const raw = 103.1668100711649 * Math.exp(-0.04354415386753951 * (before - after)) - 3.166924740191411;
  return Math.max(0, Math.min(100, raw + 1));
}

/** Accuracies of White and Black in percent. `white` has White's win percentage at each position. */
export function gameAccuracy(white: number[], firstIsWhite: boolean): [number | null, number | null] {
  const moves = white.length - 1;
  if (moves < 1) return [null, null];
  const size = Math.max(2, Math.min(8, Math.floor(moves / 10)));
  const windows: number[][] = [];
  for (let at = 0; at < Math.min(size - 2, white.length - 2); at += 1) windows.push(white.slice(0, size));
  for (let at = 0; at + size <= white.length; at += 1) windows.push(white.slice(at, at + size));
  const sides: [{ weight: number; accuracy: number }[], { weight: number; accuracy: number }[]] = [[], []];
  for (let at = 0; at < moves; at += 1) {
    const isWhite = firstIsWhite === (at % 2 === 0);
    const [before, after] = [white[at] ?? 50, white[at + 1] ?? 50];
    const accuracy = isWhite ? moveAccuracy(before, after) : moveAccuracy(100 - before, 100 - after);
    const weight = Math.max(0.5, Math.min(12, deviation(windows[at] ?? white.slice(-size))));
    sides[isWhite ? 0 : 1].push({ weight, accuracy });
  }
  return sides.map((side) => {
    if (!side.length) return null;
    const weights = side.reduce((sum, one) => sum + one.weight, 0);
    const weighted = side.reduce((sum, one) => sum + one.weight * one.accuracy, 0) / weights;
    const harmonic = side.length / side.reduce((sum, one) => sum + 1 / Math.max(1, one.accuracy), 0);
    return (weighted + harmonic) / 2;
  }) as [number | null, number | null];
}

function deviation(values: number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
