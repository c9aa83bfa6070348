// Reads and writes games in PGN, with variations, comments and glyphs.

import {
  ChildNode,
  makePgn,
  Node as PgnNode,
  parsePgn,
  startingPosition,
  type Game,
  type PgnNodeData,
} from 'chessops/pgn';
import { INITIAL_FEN } from 'chessops/fen';
import { parseSan } from 'chessops/san';
import { openingOf } from './opening.js';
import { texts } from './texts.js';
import { TreeNode } from './tree.js';

/** Longest text that is read: chessops refuses single games that are much smaller. */
export const LONGEST_PGN = 5_000_000;

export type Tags = Map<string, string>;

export interface ReadGame {
  tags: Tags;
  root: TreeNode;
  /** A message on moves that could not be read. */
  fault: string | null;
}

/** The games of a text that have a move or a tag. */
export function gamesOf(text: string): Game<PgnNodeData>[] {
  const empty = () => new Map<string, string>();
  return parsePgn(text.slice(0, LONGEST_PGN), empty).filter((game) => game.headers.size > 0 || game.moves.children.length > 0);
}

/** A tag's value, if it is known. */
function known(tags: Tags, name: string): string | null {
  const value = tags.get(name)?.trim() ?? '';
  return value === '' || value.startsWith('?') ? null : value;
}

/** White and Black with their ratings, and the result. */
export function titleOf(tags: Tags): string {
  const of = (tag: string, usual: string) => {
    const elo = known(tags, `${tag}Elo`);
    return `${known(tags, tag) ?? usual}${elo ? ` (${elo})` : ''}`;
  };
  const result = tags.get('Result');
  const players = `${of('White', texts.side.white)} – ${of('Black', texts.side.black)}`;
  const end = result && result !== '*' ? `, ${result}` : '';
  return `${players}${end}`;
}

/** The occasion of a game, and how it ended. */
export function occasionOf(tags: Tags): string {
  const names = ['Event', 'Site', 'Date', 'Round', 'TimeControl', 'Termination', 'Annotator'];
  return names.flatMap((name) => known(tags, name) ?? []).join(' · ');
}

/** A game as a tree. Reads up to the first illegal move of each variation. */
export function readGame(game: Game<PgnNodeData>): ReadGame {
  const start = startingPosition(game.headers).unwrap(
    (position) => position,
    (error) => {
      throw error;
    },
  );
  if (start.rules !== 'chess') throw new Error(start.rules);
  const root = new TreeNode(start, null, null, '', 0);
  root.comments = game.comments ?? [];
  let fault: string | null = null;
  // A stack instead of recursion: a main line may be long.
  const open: [PgnNode<PgnNodeData>, TreeNode][] = [[game.moves, root]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [from, to] = next;
    for (const child of from.children) {
      const move = parseSan(to.position, child.data.san);
      const node = move ? to.play(move) : null;
      if (!node) {
        fault ??= texts.illegal(child.data.san, to.san ? `${to.number} ${to.san}` : texts.start);
        continue;
      }
      node.comments.push(...(child.data.startingComments ?? []), ...(child.data.comments ?? []));
      node.nags.push(...(child.data.nags ?? []));
      open.push([child, node]);
    }
  }
  return { tags: game.headers, root, fault };
}

/** Writes a tree as PGN. `noted` adds comments and glyphs to a node. */
export function writeGame(tags: Tags, root: TreeNode, noted?: (node: TreeNode) => { comments: string[]; nags: number[] }): string {
  const moves = new PgnNode<PgnNodeData>();
  const open: [TreeNode, PgnNode<PgnNodeData>][] = [[root, moves]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [from, to] = next;
    for (const child of from.children) {
      const more = noted?.(child);
      const data: PgnNodeData = { san: child.san };
      const comments = [...(more?.comments ?? []), ...child.comments];
      const nags = [...new Set([...child.nags, ...(more?.nags ?? [])])];
      if (comments.length) data.comments = comments;
      if (nags.length) data.nags = nags;
      const made = new ChildNode(data);
      to.children.push(made);
      open.push([child, made]);
    }
  }
  const headers: Tags = new Map(
    ['Event', 'Site', 'Date', 'Round', 'White', 'Black', 'Result'].map((name) => {
      const unknown = name === 'Date' ? '????.??.??' : name === 'Result' ? '*' : '?';
      return [name, tags.get(name) ?? unknown];
    }),
  );
  const line = root.mainLine();
  const opening = openingOf(line[line.length - 1] ?? root);
  if (opening) headers.set('ECO', opening.eco).set('Opening', opening.name);
  for (const [name, value] of tags) headers.set(name, value);
  if (root.fen !== INITIAL_FEN) {
    headers.set('SetUp', '1');
    headers.set('FEN', root.fen);
  }
  return makePgn({ headers, comments: root.comments, moves });
}

/** The value of a program's command in comments, as in `[%clk 0:05:00]`. */
export function commandIn(comments: string[], name: string): string | null {
  for (const comment of comments) {
    for (const [, known, value] of comment.matchAll(/\[%(\S+)\s+([^\]]*)\]/g)) {
      if (known === name && value) return value.trim();
    }
  }
  return null;
}

/** Comments as a person reads them, without the commands of programs. */
export function readable(comment: string): string {
  return comment.replace(/\[%[^\]]*\]/g, '').trim();
}

/** The glyphs of numeric annotations. */
export function glyph(nags: number[]): string {
  const glyphs: Record<number, string> = { 1: '!', 2: '?', 3: '!!', 4: '??', 5: '!?', 6: '?!' };
  return nags.map((nag) => glyphs[nag] ?? '').join('');
}
