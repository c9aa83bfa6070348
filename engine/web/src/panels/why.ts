// Why a move: the table of all moves before and after the search, the reason, and the beam's tree.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import type { Move } from 'chessops/types';
import { makeUci } from 'chessops/util';
import type { App, Panel } from '../app.js';
import { button, element } from '../dom.js';
import type { Branch, Explanation, ExplainedMove, Found, TaskEvent } from '../protocol.js';
import { percent } from '../score.js';
import { texts } from '../texts.js';
import { arrowOf, gameLine, type TreeNode } from '../tree.js';

const BOUNDS = { exact: '', upper: '≤', lower: '≥' };

export class WhyPanel implements Panel {
  readonly element: HTMLElement;
  readonly listsMoves = false;
  private node: TreeNode | null = null;
  private asked: string | null = null;
  /** The position whose tree is complete. */
  private grown: TreeNode | null = null;
  private explanation: Explanation | null = null;
  private readonly reason = element('p', { id: 'reason', role: 'status' });
  private readonly message = element('p', { class: 'note', role: 'status' });
  private readonly rows = element('tbody');
  private readonly beamTitle = element('p', { class: 'note' });
  private readonly tree = element('div', { class: 'tree', id: 'beam' });

  constructor(private readonly app: App) {
    const head = texts.whyColumns.map((name) => element('th', { scope: 'col' }, name));
    const table = element(
      'table',
      { id: 'why-table' },
      element('caption', { class: 'note' }, texts.whyCaption),
      element('thead', {}, element('tr', {}, ...head)),
      this.rows,
    );
    this.element = element(
      'div',
      {},
      this.reason,
      this.message,
      element('p', { class: 'note' }, texts.whyIntro),
      element('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': texts.tabs.why }, table),
      element('h2', {}, texts.beam),
      element('p', { class: 'note' }, texts.beamIntro),
      this.beamTitle,
      this.tree,
    );
  }

  open(): void {
    this.node = null;
  }

  leave(): void {
    this.app.engine.stop();
    this.node = null;
  }

  update(): void {
    if (this.node === this.app.current) return;
    this.asked = null;
    this.ask(null);
  }

  /** A move on the board is a question here. */
  onMove(move: Move): boolean {
    if (this.app.current.position.isLegal(move)) this.ask(makeUci(move));
    return true;
  }

  /** Explains, and compares the best move with `move`. */
  private ask(move: string | null): void {
    const node = this.app.current;
    const isNew = this.node !== node;
    this.node = node;
    this.asked = move;
    if (isNew) {
      this.explanation = null;
      this.rows.replaceChildren();
      this.tree.replaceChildren();
      this.beamTitle.textContent = '';
    }
    this.reason.textContent = '';
    if (node.position.isEnd()) {
      this.app.engine.stop();
      this.message.textContent = texts.gameOver;
      return;
    }
    this.message.textContent = texts.searching;
    const task = { name: 'why', compared: move ? [move] : [] } as const;
    this.app.engine.run(gameLine(node), task, (event) => this.hear(node, event));
    this.app.redraw();
  }

  private hear(node: TreeNode, event: TaskEvent): void {
    if (event.type === 'queued') this.message.textContent = texts.queued(event.place);
    else if (event.type === 'begun') this.message.textContent = texts.searching;
    else if (event.type === 'error') this.message.textContent = texts.failed(event.message);
    else if (event.type === 'why') {
      this.explanation = event.explanation;
      this.drawTable(node, event.explanation);
      if (event.complete) {
        this.reason.textContent = event.explanation.reason;
        this.message.textContent = '';
      }
      this.app.redraw();
    } else if (event.type === 'ended' && event.reason === 'done') this.grow(node);
    else if (event.type === 'ended') this.message.textContent = texts.ended[event.reason];
  }

  /** Lets the beam's tree grow, once for each position. */
  private grow(node: TreeNode): void {
    if (this.grown === node) return;
    this.app.engine.run(gameLine(node), { name: 'beam' }, (event) => {
      if (event.type === 'queued') this.message.textContent = texts.queued(event.place);
      else if (event.type === 'begun') this.message.textContent = '';
      else if (event.type === 'error') this.message.textContent = texts.failed(event.message);
      else if (event.type === 'tree') {
        this.beamTitle.textContent = texts.beamDepth(event.depth);
        this.tree.replaceChildren(branches(event.moves, 1));
      } else if (event.type === 'ended' && event.reason === 'done') this.grown = node;
    });
  }

  arrows(): DrawShape[] {
    const node = this.app.current;
    const best = this.explanation?.search.pv[0];
    const arrow = (uci: string, brush: string): DrawShape[] => {
      const squares = arrowOf(node.position, uci);
      return squares ? [{ orig: squares[0] as Key, dest: squares[1] as Key, brush }] : [];
    };
    if (this.node !== node || !best) return [];
    const asked = this.asked && this.asked !== best ? arrow(this.asked, 'red') : [];
    return [...arrow(best, 'green'), ...asked];
  }

  private drawTable(node: TreeNode, explanation: Explanation): void {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['why'] : undefined;
    this.rows.replaceChildren(...explanation.moves.map((move) => this.row(node, explanation, move)));
    if (focused) this.rows.querySelector<HTMLElement>(`[data-why="${CSS.escape(focused)}"]`)?.focus();
  }

  private row(node: TreeNode, explanation: Explanation, move: ExplainedMove): HTMLElement {
    const read = node.read(move.san);
    const uci = read ? makeUci(read) : move.uci;
    const chosen = explanation.search.pv[0] === move.uci;
    const found = move.own_search ?? move.searched;
    const cell = (text: string) => element('td', {}, text);
    const name = button(move.san, () => this.ask(uci), { 'data-why': move.san });
    const classes = [chosen ? 'chosen' : '', this.asked === uci ? 'asked' : ''].filter(Boolean).join(' ');
    return element(
      'tr',
      { class: classes || undefined },
      element('td', {}, name),
      cell(percent(move.static.win_probability)),
      cell(String(move.rank_before)),
      cell(signed(move.cosine)),
      cell(found ? after(found) : texts.dropped),
      cell(move.rank_after === null ? '–' : String(move.rank_after)),
      cell(found ? String(found.depth) : '–'),
    );
  }
}

function after(found: Found): string {
  const mate = found.mate === undefined ? '' : ` #${found.mate}`;
  return `${BOUNDS[found.bound]}${percent(found.win_probability)}${mate}`;
}

function signed(cosine: number): string {
  return `${cosine < 0 ? '−' : '+'}${Math.abs(cosine).toFixed(3)}`;
}

/** The kept moves of a position as a list; the first ply and the best line are open. */
function branches(moves: Branch[], ply: number): HTMLElement {
  const items = moves.map((move, at) => {
    const value = `${percent(move.first_sight)} → ${percent(move.searched)}`;
    const bar = element('span', { class: 'bar' });
    bar.style.width = `${(60 * move.searched).toFixed(0)}px`;
    const line = [bar, element('strong', {}, move.san), ` ${value}`];
    const dropped = move.dropped?.length
      ? [element('p', { class: 'none' }, texts.beamDropped(move.dropped.map((one) => `${one.san} ${percent(one.value)}`).join(', ')))]
      : [];
    if (!move.kept?.length) return element('li', {}, ...line, ...dropped);
    const open = at === 0 || ply === 1;
    const details = element('details', { open }, element('summary', {}, ...line), branches(move.kept, ply + 1), ...dropped);
    return element('li', {}, details);
  });
  return element('ul', {}, ...items);
}
