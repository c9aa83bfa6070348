// What the map of the space tells about a position.

import type { Color } from 'chessops/types';
import type { Sampled } from './protocol.js';

export function turnOf(fen: string): Color {
  return fen.split(' ')[1] === 'b' ? 'black' : 'white';
}

/** White's latent score at a cosine with `turn` to move, by the sample's positions on either side. */
export function scoreAt(cosine: number, turn: Color, sample: Sampled[]): number {
  let low: Sampled | null = null;
  let high: Sampled | null = null;
  for (const one of sample) {
    if (turnOf(one.fen) !== turn) continue;
    const [x] = one.at;
    if (x <= cosine && (!low || x > low.at[0])) low = one;
    if (x >= cosine && (!high || x < high.at[0])) high = one;
  }
  const [left, right] = [low ?? high, high ?? low];
  if (!left || !right) return 0.5;
  const width = right.at[0] - left.at[0];
  return left.p + (width && (cosine - left.at[0]) / width) * (right.p - left.p);
}

/** Least rank correlation at which the vertical axis has a name. */
const NAMED = 0.6;

/** Where decided positions lie, up or down; null if the vertical axis does not show whether a position is. */
export function decided(sample: Sampled[]): 'up' | 'down' | null {
  const correlation = rankCorrelation(sample.map(({ at: [, y] }) => y), sample.map(({ at: [x] }) => Math.abs(x)));
  if (Math.abs(correlation) < NAMED) return null;
  return correlation > 0 ? 'up' : 'down';
}

/** Spearman's rank correlation of numbers that are all different. */
export function rankCorrelation(one: number[], other: number[]): number {
  const count = one.length;
  if (count < 2) return 0;
  const [ranks, others] = [ranksOf(one), ranksOf(other)];
  const squares = ranks.reduce((sum, rank, at) => sum + (rank - (others[at] ?? 0)) ** 2, 0);
  return 1 - (6 * squares) / (count * (count ** 2 - 1));
}

function ranksOf(values: number[]): number[] {
  const ranks: number[] = [];
  const sorted = values.map((value, at) => ({ value, at })).sort((a, b) => a.value - b.value);
  sorted.forEach(({ at }, rank) => (ranks[at] = rank));
  return ranks;
}
