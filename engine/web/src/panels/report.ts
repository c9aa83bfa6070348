// The report of a finished game: accuracy, mistakes, better moves, and another try.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import type { Color, Move } from 'chessops/types';
import { gameAccuracy } from '../accuracy.js';
import type { App, Panel } from '../app.js';
import { button, element, labelled, saveFile } from '../dom.js';
import { graph } from '../graph.js';
import { titleOf, writeGame } from '../pgn.js';
import type { Judged, Judgement, TaskEvent } from '../protocol.js';
import { percent, scoreText, whiteShare } from '../score.js';
import { texts } from '../texts.js';
import { arrowOf, gameLine, sansOf, type TreeNode } from '../tree.js';

const TIMES: [number, string][] = [
  [50, '50 ms'],
  [100, '100 ms'],
  [500, '0.5 s'],
  [2000, '2 s'],
];

/** Time for judging another try, in milliseconds. */
const RETRY_TIME = 700;

/** Largest loss of win probability of a good try. */
const GOOD_LOSS = 0.03;

const NAGS: Record<Judgement, number> = { inaccuracy: 6, mistake: 2, blunder: 4 };
const KINDS: Judgement[] = ['inaccuracy', 'mistake', 'blunder'];
const SHOWN_MOVES = 10;

export class ReportPanel implements Panel {
  readonly element: HTMLElement;
  readonly listsMoves = true;
  private line: TreeNode[] = [];
  private message = '';
  /** The move that is tried again. */
  private retrying: TreeNode | null = null;
  private readonly time = element('select', { id: 'report-time' });
  private readonly start: HTMLButtonElement;
  private readonly status = element('p', { role: 'status', class: 'note' });
  private readonly graphBox = element('div');
  private readonly counts = element('table', { id: 'counts' });
  private readonly about = element('div', { id: 'about' });
  private readonly actions: HTMLElement;

  constructor(private readonly app: App) {
    this.time.append(...TIMES.map(([value, name]) => element('option', { value }, name)));
    this.time.value = '100';
    this.start = button(texts.reportStart, () => this.begin(), { class: 'primary', id: 'report-start' });
    this.actions = element(
      'div',
      { class: 'row' },
      button(texts.previousMistake, () => this.seek(-1), { id: 'previous-mistake' }),
      button(texts.nextMistake, () => this.seek(1), { id: 'next-mistake' }),
      button(texts.savePgn, () => this.savePgn()),
      button(texts.saveJson, () => this.saveJson()),
    );
    this.element = element(
      'div',
      {},
      element('div', { class: 'row' }, this.start, labelled(texts.reportTime, this.time)),
      this.status,
      this.graphBox,
      this.about,
      this.actions,
      this.counts,
    );
  }

  open(): void {
    this.retrying = null;
    this.message = '';
  }

  leave(): void {
    this.app.engine.stop();
    this.retrying = null;
  }

  update(): void {
    if (this.retrying && this.app.current !== this.retrying.parent) this.retrying = null;
    this.draw();
  }

  onKey(key: string): boolean {
    if (key === 'n') this.seek(1);
    else if (key === 'p') this.seek(-1);
    else return false;
    return true;
  }

  private mainLine(): TreeNode[] {
    return this.app.root.mainLine();
  }

  private begin(): void {
    this.line = this.mainLine();
    const line = this.line;
    if (line.length < 2) {
      this.message = texts.reportNone;
      this.draw();
      return;
    }
    for (const node of line) node.judged = null;
    const last = line[line.length - 1] as TreeNode;
    const task = { name: 'report', milliseconds: Number(this.time.value) } as const;
    this.app.engine.run(gameLine(last), task, (event) => this.hear(line, event));
    this.draw();
  }

  private hear(line: TreeNode[], event: TaskEvent): void {
    if (event.type === 'queued') this.message = texts.queued(event.place);
    else if (event.type === 'begun') this.message = '';
    else if (event.type === 'error') this.message = texts.failed(event.message);
    else if (event.type === 'ended') this.message = texts.ended[event.reason];
    else if (event.type === 'judged') {
      const node = line[event.ply];
      if (node) node.judged = event;
      this.message = event.ply + 1 < line.length ? texts.reportProgress(event.ply + 1, line.length) : '';
    }
    this.draw();
    this.app.redraw();
  }

  private isComplete(): boolean {
    return this.mainLine().length > 1 && this.mainLine().every((node) => node.judged);
  }

  /** Goes to the next mistake or blunder, or the previous one. */
  private seek(step: 1 | -1): void {
    const line = this.mainLine();
    const from = line.indexOf(this.app.current);
    for (let at = from + step; at >= 0 && at < line.length; at += step) {
      const node = line[at];
      const judgement = node?.judged?.judgement;
      if (node && (judgement === 'mistake' || judgement === 'blunder')) {
        this.app.go(node);
        return;
      }
    }
  }

  arrows(): DrawShape[] {
    const node = this.app.current;
    if (this.retrying) return [];
    const before = node.parent;
    // After a mistake, the better move; elsewhere the best one.
    const wrong = node.judged?.judgement && before?.judged?.pv[0];
    const from = wrong && before ? before : node;
    const uci = wrong || node.judged?.pv[0];
    const squares = uci ? arrowOf(from.position, uci) : null;
    if (!squares) return [];
    return [{ orig: squares[0] as Key, dest: squares[1] as Key, brush: wrong ? 'green' : 'paleBlue' }];
  }

  onMove(move: Move): boolean {
    const tried = this.retrying;
    const before = tried?.parent;
    if (!tried || !before || this.app.current !== before) return false;
    const known = before.children.includes(tried) ? before.children.length : 0;
    const node = before.play(move);
    if (!node) return true;
    this.judge(tried, before, node, before.children.length > known);
    return true;
  }

  private judge(tried: TreeNode, before: TreeNode, node: TreeNode, isNew: boolean): void {
    const best = before.judged;
    if (!best) return;
    const conclude = (share: number) => {
      const loss = Math.max(0, best.score.win_probability - share);
      const good = loss <= GOOD_LOSS;
      this.message = good ? texts.retryGood(node.san) : texts.retryBad(node.san, percent(loss));
      if (good) {
        this.retrying = null;
        this.app.go(node);
      } else {
        if (isNew && node !== tried) node.remove();
        this.app.update();
      }
    };
    if (node === tried) conclude(1 - (node.judged?.score.win_probability ?? 0));
    else if (node.position.isEnd()) conclude(node.position.isCheckmate() ? 1 : 0.5);
    else {
      let share: number | null = null;
      const task = { name: 'analyse', lines: 1, milliseconds: RETRY_TIME } as const;
      this.app.engine.run(gameLine(node), task, (event) => {
        if (event.type === 'info') share = 1 - (event.lines[0]?.score.win_probability ?? 0.5);
        else if (event.type === 'ended' && share !== null && this.retrying === tried) conclude(share);
        else if (event.type === 'error') this.message = texts.failed(event.message);
      });
    }
  }

  private retry(node: TreeNode): void {
    if (!node.parent) return;
    this.app.go(node.parent);
    this.retrying = node;
    this.message = texts.retryNow;
    this.app.update();
  }

  private draw(): void {
    this.line = this.mainLine();
    this.status.textContent = this.message;
    const judged = this.line.some((node) => node.judged);
    this.actions.hidden = this.counts.hidden = this.graphBox.hidden = !judged;
    if (!judged) {
      this.about.replaceChildren();
      return;
    }
    this.graphBox.replaceChildren(
      graph(this.line, this.app.current, (at) => {
        const node = this.line[at];
        if (node) this.app.go(node);
      }),
    );
    this.drawCounts();
    this.drawAbout();
  }

  private drawCounts(): void {
    const sides: Color[] = ['white', 'black'];
    const of = (side: Color, kind: Judgement) =>
      this.line.filter((node) => node.parent?.turn === side && node.judged?.judgement === kind).length;
    const shares = this.line.map((node) => (node.judged ? 100 * whiteShare(node.judged.score, node.turn) : 50));
    const accuracies = this.isComplete() ? gameAccuracy(shares, this.app.root.turn === 'white') : [null, null];
    const head = element('tr', {}, element('th', { scope: 'col' }, titleOf(this.app.tags)), ...sides.map((side) => element('th', { scope: 'col' }, texts.side[side])));
    const accuracy = element(
      'tr',
      {},
      element('td', {}, texts.accuracy),
      ...accuracies.map((value) => element('td', {}, value === null ? '–' : `${value.toFixed(0)}%`)),
    );
    const rows = KINDS.map((kind) =>
      element('tr', {}, element('td', { class: kind }, texts.judgements[kind][1]), ...sides.map((side) => element('td', {}, String(of(side, kind))))),
    );
    this.counts.replaceChildren(element('thead', {}, head), element('tbody', {}, accuracy, ...rows));
  }

  private drawAbout(): void {
    const node = this.app.current;
    const { judged } = node;
    const before = node.parent;
    const parts: (Node | string)[] = [];
    if (judged && before && !this.retrying) {
      const title = element('h2', {}, `${node.number} ${node.san} `);
      if (judged.judgement) title.append(element('span', { class: judged.judgement }, texts.judgements[judged.judgement][0]));
      parts.push(title);
      if (judged.loss !== null && judged.rank) {
        parts.push(element('p', {}, texts.gives(percent(judged.loss), judged.rank[0], judged.rank[1])));
      }
      if (judged.judgement && before.judged) {
        parts.push(this.betterLine(before, before.judged), element('div', { class: 'row' }, button(texts.retry, () => this.retry(node), { id: 'retry' })));
      }
    }
    if (this.retrying) {
      const tried = this.retrying;
      parts.push(element('div', { class: 'row' }, button(texts.showBetter, () => this.app.go(tried), { id: 'show-better' })));
    }
    this.about.replaceChildren(...parts);
  }

  /** The better line; each move of it can be clicked. */
  private betterLine(before: TreeNode, judged: Judged): Node {
    const line = judged.pv.slice(0, SHOWN_MOVES);
    const sans = sansOf(before.position, line);
    const row = element('p', { class: 'better' }, texts.better(''));
    sans.forEach((san, at) => {
      const half = at + (before.turn === 'white' ? 0 : 1);
      const number = before.position.fullmoves + Math.floor(half / 2);
      const shown = half % 2 === 0 ? `${number}. ${san}` : at === 0 ? `${number}… ${san}` : san;
      row.append(
        button(shown, () => {
          let node: TreeNode = before;
          for (const uci of line.slice(0, at + 1)) node = node.playText(uci) ?? node;
          this.app.go(node);
        }),
        ' ',
      );
    });
    return row;
  }

  private savePgn(): void {
    const text = writeGame(this.app.tags, this.app.root, (node) => {
      const { judged } = node;
      if (!judged) return { comments: [], nags: [] };
      const comments = [`[%eval ${evaluation(judged, node.turn)}]`];
      const better = judged.judgement && node.parent?.judged;
      if (better && node.parent) {
        comments.push(texts.better(sansOf(node.parent.position, better.pv.slice(0, SHOWN_MOVES)).join(' ')));
      }
      return { comments: [comments.join(' ')], nags: judged.judgement ? [NAGS[judged.judgement]] : [] };
    });
    saveFile('report.pgn', 'application/x-chess-pgn', text);
  }

  private saveJson(): void {
    const positions = this.line.map((node) => ({
      ply: node.ply,
      fen: node.fen,
      move: node.san || null,
      white_win_probability: node.judged ? whiteShare(node.judged.score, node.turn) : null,
      score: node.judged ? scoreText(node.judged.score, node.turn) : null,
      best: node.judged ? sansOf(node.position, node.judged.pv) : null,
      loss: node.judged?.loss ?? null,
      judgement: node.judged?.judgement ?? null,
    }));
    const text = JSON.stringify({ tags: Object.fromEntries(this.app.tags), positions }, null, 2);
    saveFile('report.json', 'application/json', text);
  }
}

/** An evaluation as PGN writes it: pawns, or `#-3`, from White's view. */
function evaluation({ score }: Judged, turn: Color): string {
  const sign = turn === 'white' ? 1 : -1;
  if (score.mate !== undefined) return `#${sign * score.mate}`;
  return ((sign * (score.cp ?? 0)) / 100).toFixed(2);
}
