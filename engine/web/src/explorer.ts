// Counts the moves that games play in a position. Positions are the same whichever moves led to them.

import { normalizeMove, type Position } from 'chessops/chess';
import { makeUci, parseUci } from 'chessops/util';
import { mainLineOf } from './pgn.js';
import type { FileGame, GameText } from './protocol.js';
import { epdOf, rootOf } from './tree.js';

/** A move with the number of games that play it, and White's results in those with a result. */
export interface Played {
  uci: string;
  games: number;
  wins: number;
  draws: number;
  losses: number;
}

/** More half-moves than a game of the engine has. A place is a number: that of the game times this, plus
 * the half-moves before. */
const PLIES = 4096;

const RESULTS: Record<string, 'wins' | 'draws' | 'losses'> = { '1-0': 'wins', '1/2-1/2': 'draws', '0-1': 'losses' };

export class Explorer {
  private readonly games: GameText[];
  /** The moves of each game that has been read. */
  private readonly lines: string[][] = [];
  /** The places of each position. Most positions have one. */
  private readonly places = new Map<string, number | number[]>();

  constructor(games: FileGame[]) {
    this.games = games.filter((game): game is GameText => 'fen' in game && game.nodes.length > 0);
  }

  /** Number of games. */
  get count(): number {
    return this.games.length;
  }

  /** Number of games that have been read. */
  get read(): number {
    return this.lines.length;
  }

  /** Reads the next game, if there is one. */
  readNext(): void {
    const game = this.games[this.read];
    if (!game) return;
    const line: string[] = [];
    const at = this.read * PLIES;
    this.lines.push(line);
    const position = startOf(game);
    if (!position) return;
    for (const uci of mainLineOf(game)) {
      const read = parseUci(uci);
      const move = read && normalizeMove(position, read);
      if (!move || !position.isLegal(move)) return;
      this.add(epdOf(position), at + line.length);
      line.push(makeUci(move));
      position.play(move);
    }
  }

  /** The moves of a position, the most played ones first. A game counts once for a move. */
  moves(position: Position): Played[] {
    const found = new Map<string, Played & { last: number }>();
    for (const place of [this.places.get(epdOf(position)) ?? []].flat()) {
      const game = Math.floor(place / PLIES);
      const uci = this.lines[game]?.[place % PLIES];
      if (!uci) continue;
      const played = found.get(uci) ?? { uci, games: 0, wins: 0, draws: 0, losses: 0, last: -1 };
      found.set(uci, played);
      if (played.last === game) continue;
      played.last = game;
      played.games += 1;
      const result = RESULTS[this.games[game]?.result ?? ''];
      if (result) played[result] += 1;
    }
    const moves = [...found.values()].map(({ last: _, ...played }) => played);
    return moves.sort((one, other) => other.games - one.games);
  }

  private add(position: string, place: number): void {
    const known = this.places.get(position);
    if (known === undefined) this.places.set(position, place);
    else if (typeof known === 'number') this.places.set(position, [known, place]);
    else known.push(place);
  }
}

/** The first position of a game; none if the page cannot show it. */
function startOf(game: GameText): Position | null {
  try {
    return rootOf(game.fen).position;
  } catch {
    return null;
  }
}
