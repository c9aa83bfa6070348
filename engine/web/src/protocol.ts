// The messages to and from the engine, as engine/src/tasks/protocol.rs defines them, and the games that
// engine/src/tasks/games.rs reads.

/** A game as engine/src/report/game.rs writes it. */
export interface GameText {
  tags: [string, string][];
  fen: string;
  result: string | null;
  /** The castling rights of the FEN that were dropped, for want of king or rook. */
  dropped_rights?: string;
  comments: string[];
  /** The moves in the order of the file; `parent` is the number of the node before, and 0 the start. */
  nodes: { parent: number; uci: string; comments?: string[]; glyphs?: number[] }[];
  /** The moves, or those of a variation, end before a fault. */
  fault?: string;
  variation_fault?: string;
}

/** A game, or why it cannot be read. */
export type FileGame = GameText | { fault: string };

/** The first games of a text, and whether it has more. */
export interface FileGames {
  games: FileGame[];
  more: boolean;
}

/** A score of the side to move: centipawns or moves to mate, and the win probability. At first sight,
 * that is the latent score: what the cosine says alone. */
export interface Score {
  cp?: number;
  mate?: number;
  win_probability: number;
}

/** Chances of the side to move to win, draw and lose, in permille. */
export type Wdl = [number, number, number];

/** An evaluation by a search; without chances if the game is over. */
export interface Evaluated {
  score: Score;
  wdl: Wdl | null;
}

/** A line of a search; without chances from the second engine. */
export interface Line extends Evaluated {
  depth: number;
  pv: string[];
}

export interface Info {
  depth: number;
  seldepth: number;
  nodes: number;
  nps: number;
  time: number;
  lines: Line[];
}

export interface Found {
  depth: number;
  bound: 'exact' | 'upper' | 'lower';
  win_probability: number;
  cp?: number;
  mate?: number;
}

export interface ExplainedMove {
  uci: string;
  san: string;
  cosine: number;
  rank_before: number;
  rank_after: number | null;
  own_search: Found | null;
  searched: Found | null;
  static: Score;
}

/** What `azimuth explain --json` writes, as far as the page uses it. */
export interface Explanation {
  reason: string;
  search: { pv: string[] };
  moves: ExplainedMove[];
}

export interface Tree {
  kept?: Branch[];
  dropped?: { san: string; value: number }[];
  others: number;
}

export interface Branch extends Tree {
  san: string;
  first_sight: number;
  searched: number;
}

export type Judgement = 'inaccuracy' | 'mistake' | 'blunder';

export interface Judged extends Evaluated {
  ply: number;
  pv: string[];
  cosine: number;
  loss: number | null;
  judgement: Judgement | null;
  /** Why the move is a mistake. */
  remark?: string;
  rank: [number, number] | null;
  compared?: { uci: string; expected_score: number }[];
}

export type Place = [number, number];

/** A legal move in the tablebases: plies after it to the winning side's next capture or pawn move, positive
 * if the move wins, negative if it loses. */
export interface TableMove {
  uci: string;
  dtz: number;
}

export interface Sampled {
  fen: string;
  at: Place;
  p: number;
  mate?: number;
}

/** Positions of the sample that are near to a position. */
export interface Neighbours {
  near: number[];
  /** Whether they were chosen among the positions of like material. */
  alike: boolean;
}

export interface Space extends Neighbours {
  weights: 'beam' | 'user';
  path: Place[];
  /** The rest of the game, from the position on; only in the file of a report. */
  ahead?: Place[];
  candidates: { uci: string; san: string; at: Place; p: number }[];
  sample?: Sampled[];
}

export type Reason = 'done' | 'stopped' | 'turn' | 'limit';

type WithId = { id: number };

export type TaskEvent = WithId &
  (
    | { type: 'queued'; place: number }
    | { type: 'begun' }
    | ({ type: 'info' } & Info)
    | { type: 'move'; uci: string; score: Score; pause: number }
    | { type: 'why'; explanation: Explanation; expected: (number | null)[]; complete: boolean }
    | { type: 'tree'; depth: number; tree: Tree }
    | { type: 'tablebase'; moves: TableMove[] }
    | { type: 'book'; moves: [string, number][] }
    | ({ type: 'space' } & Space)
    | ({ type: 'judged' } & Judged)
    | { type: 'ended'; reason: Reason }
    | { type: 'error'; message: string }
  );

export interface Welcome {
  version: string;
  elo: [number, number];
  /** The usual and the largest number of threads of an analysis. */
  threads: [number, number];
  /** The same for the size of its tables, in MB. */
  hash: [number, number];
  /** The name of the second engine, if there is one. */
  second?: string;
}

export type ServerEvent =
  | TaskEvent
  | ({ type: 'welcome' } & Welcome)
  | { type: 'error'; id: null; message: string };

export type PlayTime = { milliseconds: number } | { left: [number, number]; increment: number };

export type Task =
  | { name: 'analyse'; lines: number; milliseconds: number | null; threads?: number | null; hash?: number | null }
  | { name: 'second_engine'; lines: number }
  | { name: 'play'; elo: number | null; seed: number; time: PlayTime }
  | { name: 'why'; compared: string[] }
  | { name: 'beam' }
  | { name: 'tablebase' }
  | { name: 'book' }
  | { name: 'space'; sample: boolean }
  | { name: 'report'; milliseconds: number };

/** From the page. */
export type Message = { type: 'run'; id: number; fen: string; moves: string[]; task: Task } | { type: 'stop' };
