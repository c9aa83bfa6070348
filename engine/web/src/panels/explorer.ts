// The opening explorer: the moves of the games that are open, or else those of the engine's opening book.

import type { App } from '../app.js';
import { choices } from '../choices.js';
import { element } from '../dom.js';
import { Explorer, type Played } from '../explorer.js';
import { texts } from '../language.js';
import type { FileGame } from '../protocol.js';
import { percent } from '../score.js';
import { sansOf, type TreeNode } from '../tree.js';

/** Time in milliseconds for which games are read before the page does other things. */
const SLICE = 20;

/** The opening book knows only positions before this half-move. */
const BOOK_PLIES = 17;

/** Least share of a bar's part that has its number. */
const NUMBERED = 0.14;

export class ExplorerView {
  readonly element = element('section', { id: 'explorer', hidden: true, 'aria-labelledby': 'explorer-title' });
  private explorer = new Explorer([]);
  /** The position that is shown, and the number of games that it counts. */
  private drawn: { node: TreeNode; read: number } | null = null;
  /** The book's moves with their shares of the games. */
  private readonly book = new WeakMap<TreeNode, [string, number][]>();

  constructor(private readonly app: App) {}

  /** Counts these games instead of those before. */
  open(games: FileGame[]): void {
    this.explorer = new Explorer(games);
    this.drawn = null;
    this.read(this.explorer);
  }

  /** Whether the engine has to be asked for the book's moves. */
  lacks(node: TreeNode): boolean {
    return node.ply < BOOK_PLIES && !this.book.has(node);
  }

  /** Keeps the book's moves; there are none in most positions. */
  learn(node: TreeNode, moves: [string, number][]): void {
    this.book.set(node, moves);
    this.drawn = null;
  }

  draw(): void {
    const { explorer } = this;
    const node = this.app.current;
    const { count, read } = explorer;
    if (this.drawn?.node === node && this.drawn.read === read) return;
    this.drawn = { node, read };
    // The list of moves says all about a single game.
    if (count < 2) {
      this.drawBook(node);
      return;
    }
    this.element.hidden = false;
    const moves = explorer.moves(node.position);
    const rows = moves.map((played) => ({
      uci: played.uci,
      san: sansOf(node.position, [played.uci])[0] ?? '',
      cells: [String(played.games), bar(played)],
    }));
    const sum = (of: keyof Omit<Played, 'uci'>) => moves.reduce((total, played) => total + played[of], 0);
    const all = { uci: '', games: sum('games'), wins: sum('wins'), draws: sum('draws'), losses: sum('losses') };
    const foot = moves.length > 1 ? ['Σ', String(all.games), bar(all)] : null;
    this.element.replaceChildren(
      element('h2', { id: 'explorer-title' }, texts.explorer(read, count)),
      moves.length
        ? choices(this.app, node, texts.explorerColumns, rows, foot)
        : element('div', { class: 'choices' }, element('p', { class: 'note' }, texts.explorerNone)),
    );
  }

  private drawBook(node: TreeNode): void {
    const moves = this.book.get(node) ?? [];
    this.element.hidden = !moves.length;
    const rows = moves.map(([uci, share]) => ({ uci, san: sansOf(node.position, [uci])[0] ?? '', cells: [percent(share)] }));
    this.element.replaceChildren(element('h2', { id: 'explorer-title' }, texts.book), choices(this.app, node, texts.bookColumns, rows));
  }

  /** Reads games, a slice at a time. */
  private read(explorer: Explorer): void {
    if (explorer !== this.explorer) return;
    const end = performance.now() + SLICE;
    while (explorer.read < explorer.count && performance.now() < end) explorer.readNext();
    this.draw();
    if (explorer.read < explorer.count) setTimeout(() => this.read(explorer));
  }
}

/** White's wins, the draws and Black's wins as a bar. */
function bar({ wins, draws, losses }: Played): HTMLElement {
  const label = texts.explorerResults(wins, draws, losses);
  const made = element('div', { class: 'results', role: 'img', 'aria-label': label, title: label });
  const decided = wins + draws + losses;
  for (const [name, number] of [['white', wins], ['draws', draws], ['black', losses]] as const) {
    const share = number / (decided || 1);
    const part = element('span', { class: name }, share >= NUMBERED ? texts.percent(String(Math.round(100 * share))) : '');
    part.style.flexGrow = String(number);
    if (number) made.append(part);
  }
  return made;
}
