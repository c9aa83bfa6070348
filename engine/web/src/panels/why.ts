// Why a move: the table of all moves before and after the search, the reason, and the beam's tree.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Move } from 'chessops/types';
import { makeUci } from 'chessops/util';
import type { App } from '../app.js';
import { button, element } from '../dom.js';
import { texts } from '../language.js';
import type { Explanation, ExplainedMove, Found, TaskEvent, Tree } from '../protocol.js';
import { percent } from '../score.js';
import { arrowOf, type TreeNode } from '../tree.js';
import { PositionPanel } from './task.js';

/** The beam's depth in plies. */
const BEAM_PLIES = 6;

const BOUNDS = { exact: '', upper: '≤', lower: '≥' };

export class WhyPanel extends PositionPanel {
  readonly element: HTMLElement;
  /** The move that the next position is asked about. */
  question: string | null = null;
  private asked: string | null = null;
  /** The position whose tree is complete. */
  private grown: TreeNode | null = null;
  private explanation: Explanation | null = null;
  private readonly reason = element('p', { id: 'reason', role: 'status', lang: 'en' });
  private readonly researchers: HTMLDetailsElement;
  /** The position whose explanation is complete. */
  private explained: TreeNode | null = null;
  private readonly rows = element('tbody');
  private readonly beamTitle = element('p', { class: 'note' });
  private readonly plies = element('tbody');
  private readonly tree = element('div', { class: 'tree', id: 'beam' });

  constructor(app: App) {
    super(app);
    const head = (names: string[]) =>
      element('thead', {}, element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name))));
    const table = element(
      'table',
      { id: 'why-table', 'aria-describedby': 'why-caption' },
      head(texts.whyColumns),
      this.rows,
    );
    const plies = element('table', { id: 'plies' }, head(texts.beamColumns), this.plies);
    this.researchers = element(
      'details',
      { id: 'researchers' },
      element('summary', {}, texts.researchers),
      element('p', { class: 'note', id: 'why-caption' }, texts.whyCaption),
      element('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': texts.tabs.why }, table),
      element('h2', {}, texts.beam),
      element('p', { class: 'note' }, texts.beamIntro),
      this.beamTitle,
      plies,
      this.tree,
    );
    this.researchers.addEventListener('toggle', () => this.grow());
    this.element = element('div', {}, this.reason, this.message, element('p', { class: 'note' }, texts.whyIntro), this.researchers);
  }

  protected show(node: TreeNode): void {
    this.explanation = null;
    this.rows.replaceChildren();
    this.drawTree(null);
    this.grown = null;
    this.explain(node, this.question);
    this.question = null;
  }

  /** A move on the board is a question here. */
  onMove(move: Move): boolean {
    const node = this.app.current;
    if (node.position.isLegal(move)) this.explain(node, makeUci(move));
    return true;
  }

  /** Explains, and compares the best move with `move`. */
  private explain(node: TreeNode, move: string | null): void {
    this.asked = move;
    this.explained = null;
    this.reason.textContent = '';
    if (node.position.isEnd()) {
      this.app.engine.stop();
      this.message.textContent = texts.gameOver;
      return;
    }
    this.message.textContent = texts.searching;
    this.ask(node, { name: 'why', compared: move ? [move] : [] }, (event) => this.hear(node, event));
    this.app.redraw();
  }

  private hear(node: TreeNode, event: TaskEvent): void {
    if (event.type === 'begun') this.message.textContent = texts.searching;
    else if (event.type === 'why') {
      this.explanation = event.explanation;
      this.drawTable(node, event.explanation, event.expected);
      if (event.complete) {
        this.reason.textContent = event.explanation.reason;
        this.message.textContent = '';
      }
      this.app.redraw();
    } else if (event.type === 'ended' && event.reason === 'done') {
      this.explained = node;
      this.grow();
    }
  }

  /** Lets the beam's tree grow where somebody looks, once for each position. */
  private grow(): void {
    const node = this.explained;
    if (!node || this.grown === node || !this.researchers.open) return;
    this.ask(node, { name: 'beam' }, (event) => {
      if (event.type === 'tree') this.drawTree(event);
      else if (event.type === 'ended' && event.reason === 'done') this.grown = node;
    });
  }

  arrows(): DrawShape[] {
    const node = this.app.current;
    const best = this.explanation?.search.pv[0];
    if (this.node !== node || !best) return [];
    const asked = this.asked !== best ? arrowOf(node.position, this.asked, 'red') : [];
    return [...arrowOf(node.position, best, 'green'), ...asked];
  }

  /** Draws the tree after an iteration; without one, the place for it. */
  private drawTree(grown: { depth: number; tree: Tree } | null): void {
    this.beamTitle.textContent = grown ? texts.beamDepth(grown.depth, BEAM_PLIES) : '\u00a0';
    const known = grown ? counts(grown.tree) : [];
    const rows = Array.from({ length: BEAM_PLIES }, (_, at) => {
      const of = at < (grown?.depth ?? 0) ? known[at] : undefined;
      const cells = of ? of.map(String) : ['–', '–'];
      return element('tr', {}, ...[String(at + 1), ...cells].map((text) => element('td', {}, text)));
    });
    this.plies.replaceChildren(...rows);
    this.tree.replaceChildren(...(grown ? branches(grown.tree, true) : []));
  }

  private drawTable(node: TreeNode, explanation: Explanation, expected: (number | null)[]): void {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['why'] : undefined;
    this.rows.replaceChildren(...explanation.moves.map((move, at) => this.row(node, explanation, move, expected[at] ?? 0)));
    if (focused) this.rows.querySelector<HTMLElement>(`[data-why="${CSS.escape(focused)}"]`)?.focus();
  }

  private row(node: TreeNode, explanation: Explanation, move: ExplainedMove, expected: number): HTMLElement {
    const read = node.read(move.san);
    const uci = read ? makeUci(read) : move.uci;
    const chosen = explanation.search.pv[0] === move.uci;
    const found = move.own_search ?? move.searched;
    const cell = (text: string) => element('td', {}, text);
    const name = button(move.san, () => this.explain(node, uci), { 'data-why': move.san });
    const classes = [chosen ? 'chosen' : '', this.asked === uci ? 'asked' : ''].filter(Boolean).join(' ');
    return element(
      'tr',
      { class: classes || undefined },
      element('td', {}, name),
      cell(percent(move.static.win_probability)),
      cell(String(move.rank_before)),
      cell(signed(move.cosine)),
      cell(found ? after(found, expected) : texts.dropped),
      cell(move.rank_after === null ? '–' : String(move.rank_after)),
      cell(found ? String(found.depth) : '–'),
    );
  }
}

function after(found: Found, expected: number): string {
  const mate = found.mate === undefined ? '' : ` #${found.mate}`;
  return `${BOUNDS[found.bound]}${percent(expected)}${mate}`;
}

function signed(cosine: number): string {
  return `${cosine < 0 ? '−' : '+'}${Math.abs(cosine).toFixed(3)}`;
}

/** Numbers of kept and dropped moves at each ply. */
function counts(tree: Tree): [number, number][] {
  const plies: [number, number][] = [];
  for (let level = [tree]; level.length && plies.length < BEAM_PLIES; level = level.flatMap((one) => one.kept ?? [])) {
    const sum = (of: (one: Tree) => number) => level.reduce((total, one) => total + of(one), 0);
    plies.push([sum((one) => one.kept?.length ?? 0), sum((one) => (one.dropped?.length ?? 0) + one.others)]);
  }
  return plies;
}

/** The moves of a position as a list: the kept ones with their replies, and the names of the dropped ones. */
function branches(tree: Tree, isBest: boolean): (Node | string)[] {
  const items = (tree.kept ?? []).map((move, at) => {
    const value = `${percent(move.first_sight)} → ${percent(move.searched)}`;
    const bar = element('span', { class: 'bar' });
    bar.style.width = `${(60 * move.searched).toFixed(0)}px`;
    const line = [bar, element('strong', {}, move.san), ` ${value}`];
    if (!move.kept?.length && !move.dropped?.length) return element('li', {}, ...line);
    const details = element('details', {}, element('summary', {}, ...line));
    // The tree has more than a thousand moves: the replies are made when they are looked at.
    const fill = () => {
      if (details.childElementCount === 1) details.append(...branches(move, isBest && at === 0));
    };
    details.addEventListener('toggle', fill);
    if (isBest && at === 0) {
      fill();
      details.open = true;
    }
    return element('li', {}, details);
  });
  const names = (tree.dropped ?? []).map((one) => `${one.san} ${percent(one.value)}`).join(', ');
  const dropped = names ? [element('p', { class: 'none' }, texts.beamDropped(names, tree.others))] : [];
  return [element('ul', {}, ...items), ...dropped];
}
