// Games as text: the reader's JSON, and PGN to save.

import { ChildNode, makePgn, Node as PgnNode, type PgnNodeData } from 'chessops/pgn';
import { INITIAL_FEN } from 'chessops/fen';
import { LANGUAGES, texts } from './language.js';
import { openingOf } from './opening.js';
import type { GameText } from './protocol.js';
import { rootOf, TreeNode } from './tree.js';

/** Largest file that the engine reads, in bytes. */
export const LARGEST_FILE = 5_000_000;

export type Tags = Map<string, string>;

/** The page's word for the person who plays, in each language. */
const PERSONS = Object.values(LANGUAGES).map(({ you }) => you);

/** The tags of a game, with its result. The person who played it has the name of the page's language. */
export function tagsOf({ tags, result }: GameText): Tags {
  const made: Tags = new Map(result ? [...tags, ['Result', result]] : tags);
  for (const side of ['White', 'Black']) if (PERSONS.includes(made.get(side) ?? '')) made.set(side, texts.you);
  return made;
}

/** A game as a tree. */
export function treeOf(game: GameText): { root: TreeNode; tags: Tags } {
  const root = rootOf(game.fen);
  root.comments.push(...game.comments);
  const nodes: (TreeNode | null)[] = [root];
  // The end of the main line, to which the first child of each node belongs.
  let tip = 0;
  for (const { parent, uci, comments, glyphs } of game.nodes) {
    const node = nodes[parent]?.playUci(uci) ?? null;
    node?.comments.push(...(comments ?? []));
    node?.nags.push(...(glyphs ?? []));
    if (parent === tip) tip = nodes.length;
    nodes.push(node);
  }
  // A variation that begins with a move of the main line shares its node.
  nodes[tip]?.promote();
  return { root, tags: tagsOf(game) };
}

/** The moves of a game without its variations. The first child of each node goes on with its line. */
export function mainLineOf({ nodes }: GameText): string[] {
  const line: string[] = [];
  let tip = 0;
  nodes.forEach(({ parent, uci }, at) => {
    if (parent !== tip) return;
    tip = at + 1;
    line.push(uci);
  });
  return line;
}

/** A tree in the reader's form. */
export function gameText(tags: Tags, root: TreeNode): GameText {
  const nodes: GameText['nodes'] = [];
  // A stack instead of recursion: a main line may be long.
  const open: [TreeNode, number][] = [...root.children].reverse().map((child) => [child, 0]);
  for (let next = open.pop(); next; next = open.pop()) {
    const [{ uci, comments, nags, children }, parent] = next;
    nodes.push({ parent, uci, comments, glyphs: nags });
    const number = nodes.length;
    open.push(...[...children].reverse().map((child): [TreeNode, number] => [child, number]));
  }
  return { tags: [...tags], fen: root.fen, result: null, comments: root.comments, nodes };
}

/** A tag's value, if it is known. */
export function known(tags: Tags, name: string): string | null {
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
  const opening = openingOf(root.last());
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
