// Scores and probabilities as a person reads them, always from White's view.

import type { Color } from 'chessops/types';
import { texts } from './language.js';
import type { Evaluated, Score, Wdl } from './protocol.js';

/** Expected score of the side to move, in [0, 1]: its chances to win, and half of those to draw. */
export function expectedScore({ score, wdl }: Evaluated): number {
  return wdl ? (wdl[0] + wdl[1] / 2) / 1000 : score.win_probability;
}

/** White's expected score. */
export function whiteShare(evaluated: Evaluated, turn: Color): number {
  const share = expectedScore(evaluated);
  return turn === 'white' ? share : 1 - share;
}

/** `+0.35`, `#-3`. */
export function scoreText(score: Score, turn: Color): string {
  const sign = turn === 'white' ? 1 : -1;
  if (score.mate !== undefined) {
    // Mate in 0: the side to move is mated.
    const moves = score.mate === 0 ? '' : String(Math.abs(score.mate));
    const forWhite = (score.mate > 0) === (turn === 'white');
    return `#${forWhite ? '' : '-'}${moves}`;
  }
  const pawns = (sign * (score.cp ?? 0)) / 100;
  return `${pawns < 0 ? '−' : '+'}${Math.abs(pawns).toFixed(2)}`;
}

export function whiteWdl(wdl: Wdl, turn: Color): Wdl {
  return turn === 'white' ? wdl : [wdl[2], wdl[1], wdl[0]];
}

export function wdlText(wdl: Wdl): string {
  const [win, draw, loss] = wdl.map((permille) => Math.round(permille / 10)) as Wdl;
  return texts.wdl(win, draw, loss);
}

export function percent(share: number): string {
  return texts.percent(texts.number(100 * share, 1));
}

/** A loss of expected score in points of 100. */
export function points(loss: number): string {
  return texts.number(100 * loss, 1);
}

/** `12.3k`, `4.5M`. */
export function short(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)}G`;
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)}M`;
  if (count >= 1e3) return `${(count / 1e3).toFixed(1)}k`;
  return String(count);
}
