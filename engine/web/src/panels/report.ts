// The report of a finished game: accuracy, mistakes, better moves, and another try.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Color, Move } from 'chessops/types';
import { averageLoss, gameAccuracy, winPercentage } from '../accuracy.js';
import type { App, Panel } from '../app.js';
import { button, element, labelled, renew, saveFile } from '../dom.js';
import { graph } from '../graph.js';
import { texts } from '../language.js';
import { lineButtons, lineText } from '../lines.js';
import { openingOf } from '../opening.js';
import { commandIn, occasionOf, titleOf, writeGame, type Tags } from '../pgn.js';
import type { Judged, Judgement, TaskEvent } from '../protocol.js';
import { expectedScore, points, scoreText, wdlText, whiteShare, whiteWdl } from '../score.js';
import { arrowOf, gameLine, sansOf, type TreeNode } from '../tree.js';
import { stateOf } from './task.js';

/** Time for judging another try, in milliseconds. */
const RETRY_TIME = 700;

/** Largest loss of expected score of a good try. */
const GOOD_LOSS = 0.06;

const NAGS: Record<Judgement, number> = { inaccuracy: 6, mistake: 2, blunder: 4 };
const KINDS: Judgement[] = ['inaccuracy', 'mistake', 'blunder'];
const SHOWN_MOVES = 10;

export class ReportPanel implements Panel {
  readonly element: HTMLElement;
  private line: TreeNode[] = [];
  private message = '';
  /** The last position of the game whose analysis has begun. */
  private end: TreeNode | null = null;
  /** Whether the first mistake is shown as soon as it is found. */
  private seeking = false;
  /** The game that `whose` was chosen for. */
  private chosenFor: TreeNode | null = null;
  /** The position that the message is about. */
  private seen: TreeNode | null = null;
  /** The move that is tried again. */
  private retrying: TreeNode | null = null;
  private readonly time = element('select', { id: 'report-time' });
  private readonly start: HTMLButtonElement;
  private readonly status = element('p', { role: 'status', class: 'note' });
  private readonly graphBox = element('div');
  private readonly counts = element('table', { id: 'counts' });
  private readonly about = element('div', { id: 'about' });
  private readonly actions: HTMLElement;
  private readonly saving: HTMLElement;
  private readonly games = element('select', { id: 'games' });
  /** The side whose mistakes are visited. */
  private readonly whose = element(
    'select',
    { id: 'whose', 'aria-label': texts.whose },
    element('option', { value: '' }, texts.both),
    element('option', { value: 'white' }, texts.side.white),
    element('option', { value: 'black' }, texts.side.black),
  );

  constructor(
    private readonly app: App,
    /** Opens a game of the page. */
    private readonly openGame: (game: number) => void,
    /** Asks why not this move; none without an engine. */
    private readonly askWhy: ((move: TreeNode) => void) | null,
  ) {
    this.time.append(...texts.reportTimes.map(([value, name]) => element('option', { value }, name)));
    this.time.value = '100';
    this.start = button(texts.reportStart, () => this.begin(), { class: 'primary', id: 'report-start' });
    this.actions = element(
      'div',
      { class: 'row' },
      button(texts.toPrevious, () => this.seek(-1), { id: 'previous-mistake', 'aria-label': texts.previousMistake }),
      this.whose,
      button(texts.toNext, () => this.seek(1), { id: 'next-mistake', 'aria-label': texts.nextMistake }),
    );
    this.saving = element(
      'div',
      { class: 'row', id: 'saving' },
      button(texts.savePgn, () => this.savePgn()),
      button(texts.saveJson, () => this.saveJson()),
    );
    const { recording } = app;
    this.element = element(
      'div',
      { id: 'report' },
      recording ? this.chooser(recording.tags) : element('div', { class: 'row' }, this.start, labelled(texts.reportTime, this.time)),
      this.graphBox,
      this.counts,
      this.actions,
      this.status,
      this.about,
      this.saving,
      ...(recording?.credits ?? []).map((credit) => element('p', { class: 'note', lang: 'en' }, credit)),
    );
  }

  /** The list of the games, if there are several. */
  private chooser(games: Tags[]): HTMLElement {
    this.games.append(...games.map((tags, at) => element('option', { value: at }, titleOf(tags))));
    this.games.addEventListener('change', () => this.openGame(Number(this.games.value)));
    return element('div', { class: 'row', hidden: games.length < 2 }, labelled(texts.game, this.games));
  }

  open(): void {
    this.message = '';
  }

  leave(): void {
    this.app.engine.stop();
    this.retrying = null;
  }

  update(): void {
    const node = this.app.current;
    if (this.seen !== node) {
      this.seen = node;
      this.message = '';
    }
    if (this.retrying && node !== this.retrying.parent) this.retrying = null;
    this.draw();
  }

  onKey(key: string): boolean {
    if (key === 'n') this.seek(1);
    else if (key === 'p') this.seek(-1);
    else return false;
    return true;
  }

  /** The positions of the game. Moves that were played after the last one that was analysed are no part
   * of it. */
  private mainLine(): TreeNode[] {
    const line = this.app.root.mainLine();
    const judged = this.app.recording ? line.filter((node) => node.judged).length : 0;
    const end = judged ? judged - 1 : this.end ? line.indexOf(this.end) : -1;
    return end > 0 ? line.slice(0, end + 1) : line;
  }

  /** Analyses the game, and goes to the first mistake. */
  analyse(): void {
    this.app.openTab('report');
    this.app.go(this.app.root);
    this.begin();
    this.seeking = true;
  }

  private begin(): void {
    this.seeking = false;
    this.retrying = null;
    this.end = null;
    this.line = this.mainLine();
    const line = this.line;
    if (line.length < 2) {
      this.message = texts.reportNone;
      this.draw();
      return;
    }
    for (const node of line) node.judged = null;
    const last = line[line.length - 1] as TreeNode;
    this.end = last;
    const task = { name: 'report', milliseconds: Number(this.time.value) } as const;
    this.app.engine.run(gameLine(last), task, (event) => this.hear(line, event));
    this.draw();
  }

  private hear(line: TreeNode[], event: TaskEvent): void {
    this.message = stateOf(event) ?? this.message;
    if (event.type === 'judged') {
      const node = line[event.ply];
      if (node) node.judged = event;
      this.message = event.ply + 1 < line.length ? texts.reportProgress(event.ply + 1, line.length) : '';
      if (node && this.seeking && this.isSought(node)) {
        this.seeking = false;
        if (this.app.current === this.app.root) this.app.go(node);
      }
    } else if (event.type === 'ended' && event.reason === 'done' && this.seeking) this.message = texts.noMistake;
    // A press on a button that is drawn again is no click.
    if (event.type !== 'judged' || !this.element.matches(':active')) this.draw();
    this.app.redraw();
  }

  private isComplete(): boolean {
    return this.mainLine().length > 1 && this.mainLine().every((node) => node.judged);
  }

  /** Whether a move is an inaccuracy, a mistake or a blunder of the side that was chosen. */
  private isSought({ parent, judged }: TreeNode): boolean {
    return !!judged?.judgement && (this.whose.value === '' || this.whose.value === parent?.turn);
  }

  /** Goes to the next inaccuracy, mistake or blunder, or the previous one. */
  private seek(step: 1 | -1): void {
    const line = this.mainLine();
    const from = line.indexOf(this.app.current);
    for (let at = from + step; at >= 0 && at < line.length; at += step) {
      const node = line[at];
      if (node && this.isSought(node)) {
        this.app.go(node);
        return;
      }
    }
    this.message = texts.noMistake;
    this.draw();
  }

  arrows(): DrawShape[] {
    const node = this.app.current;
    if (this.retrying) return [];
    const before = node.parent;
    // After a mistake, the better move; elsewhere the best one.
    const wrong = node.judged?.judgement && before?.judged?.pv[0];
    const from = wrong && before ? before : node;
    return arrowOf(from.position, wrong || node.judged?.pv[0], wrong ? 'green' : 'paleBlue');
  }

  onMove(move: Move): boolean {
    const tried = this.retrying;
    const before = tried?.parent;
    if (!tried || !before || this.app.current !== before) return false;
    const node = before.after(move);
    if (!node) return true;
    // The try before is judged no longer.
    this.app.engine.stop();
    this.judge(tried, before, node);
    return true;
  }

  /** Judges another try. Only a good one is added to the tree. */
  private judge(tried: TreeNode, before: TreeNode, node: TreeNode): void {
    const known = before.judged;
    if (!known) return;
    const { compared = [] } = known;
    const conclude = (message: string, good: boolean) => {
      if (good) {
        this.retrying = null;
        node.add();
        this.app.go(node);
      }
      this.message = message;
      this.app.update();
    };
    const weigh = (share: number, best = expectedScore(known)) => {
      const loss = Math.max(0, best - share);
      const good = loss <= GOOD_LOSS;
      conclude(good ? texts.retryGood(node.san) : texts.retryBad(node.san, points(loss)), good);
    };
    if (node === tried) weigh(expectedScore(known) - (node.judged?.loss ?? 0));
    else if (node.position.isEnd()) weigh(node.position.isCheckmate() ? 1 : 0.5);
    else if (this.app.recording) {
      const found = compared.find(({ uci }) => sansOf(before.position, [uci])[0] === node.san);
      if (found) weigh(found.expected_score, compared[0]?.expected_score);
      else conclude(texts.retryUnknown(node.san, compared.length), false);
    } else {
      let share: number | null = null;
      const task = { name: 'analyse', lines: 1, milliseconds: RETRY_TIME } as const;
      this.app.engine.run(gameLine(node), task, (event) => {
        if (event.type === 'info') share = event.lines[0] ? 1 - expectedScore(event.lines[0]) : share;
        else if (event.type === 'ended' && share !== null && this.retrying === tried) weigh(share);
        else if (event.type === 'queued' || event.type === 'error' || (event.type === 'ended' && event.reason === 'turn')) {
          this.message = stateOf(event) ?? '';
          this.draw();
        }
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
    if (this.app.recording) this.games.value = String(this.app.recording.shown);
    if (this.chosenFor !== this.app.root) {
      this.chosenFor = this.app.root;
      const you = (['White', 'Black'] as const).find((side) => this.app.tags.get(side) === texts.you);
      this.whose.value = you?.toLowerCase() ?? '';
    }
    this.status.textContent = this.message || '\u00a0';
    // The graph has its place before it has a point.
    const judged = this.end?.root() === this.app.root || this.line.some((node) => node.judged);
    this.actions.hidden = this.saving.hidden = this.counts.hidden = this.graphBox.hidden = !judged;
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
    const complete = this.isComplete();
    const accuracies = complete ? gameAccuracy(this.line.map(winPercentage), this.app.root.turn === 'white') : [];
    const losses = complete ? averageLoss(this.line) : [];
    const names = ['', texts.accuracy, texts.centipawns, ...KINDS.map((kind) => texts.judgements[kind][1])];
    const head = element('tr', {}, ...names.map((name) => (name ? element('th', { scope: 'col' }, name) : element('td'))));
    const rows = sides.map((side, at) => {
      const accuracy = accuracies[at] ?? null;
      const cells = [
        element('td', {}, accuracy === null ? '–' : texts.percent(accuracy.toFixed(0))),
        element('td', {}, losses[at]?.toFixed(0) ?? '–'),
        ...KINDS.map((kind) => element('td', { class: kind }, String(of(side, kind)))),
      ];
      return element('tr', {}, element('th', { scope: 'row' }, texts.side[side]), ...cells);
    });
    this.counts.replaceChildren(element('thead', {}, head), element('tbody', {}, ...rows));
  }

  private drawAbout(): void {
    const node = this.app.current;
    const tried = this.retrying;
    const parts = tried
      ? [element('div', { class: 'row' }, button(texts.showBetter, () => this.app.go(tried), { id: 'show-better' }))]
      : node.judged
        ? this.described(node, node.judged)
        : [];
    renew(this.about, parts);
  }

  /** What there is to say about a position of the main line. */
  private described(node: TreeNode, judged: Judged): HTMLElement[] {
    const before = node.parent;
    const title = element('h2', {}, before ? `${node.number} ${node.san} ` : texts.start);
    if (judged.judgement) title.append(element('span', { class: judged.judgement }, texts.judgements[judged.judgement][0]));
    const chances = judged.wdl ? [wdlText(whiteWdl(judged.wdl, node.turn))] : [];
    // Another task would end the analysis of the game.
    const disabled = this.app.engine.runs('report');
    const retry = judged.judgement && before?.judged ? [button(texts.retry, () => this.retry(node), { id: 'retry', disabled })] : [];
    const { askWhy } = this;
    const why = judged.judgement && askWhy ? [button(texts.whyThis, () => askWhy(node), { id: 'ask-why', disabled })] : [];
    const head = element('div', { class: 'row head' }, title, ...retry, ...why);
    const parts: HTMLElement[] = [head, element('p', { class: 'figures' }, [scoreText(judged.score, node.turn), ...chances].join('. '))];
    if (judged.loss !== null && judged.rank) {
      parts.push(element('p', {}, texts.gives(points(judged.loss), judged.rank[0], judged.rank[1])));
    }
    if (judged.remark) parts.push(element('p', { class: 'remark', lang: 'en' }, judged.remark));
    if (!before) parts.push(element('p', { class: 'note' }, occasionOf(this.app.tags)));
    const [clock, evaluation] = [commandIn(node.comments, 'clk'), commandIn(node.comments, 'eval')];
    const said = [clock && texts.clock(clock), evaluation && texts.inFile(evaluation)].filter(Boolean).join(', ');
    if (said) parts.push(element('p', { class: 'note' }, said));
    if (judged.judgement && before?.judged) {
      parts.push(this.clickable(texts.better, before, before.judged));
    }
    if (judged.pv.length) parts.push(this.clickable(texts.best, node, judged));
    return parts;
  }

  /** A line; each move of it can be clicked. */
  private clickable(name: string, from: TreeNode, judged: Judged): HTMLElement {
    return element('p', { class: 'better' }, `${name} `, ...lineButtons(this.app, from, judged.pv.slice(0, SHOWN_MOVES)));
  }

  private savePgn(): void {
    const text = writeGame(this.app.tags, this.app.root, (node) => {
      const { judged } = node;
      if (!judged) return { comments: [], nags: [] };
      const comments = [`[%eval ${evaluation(judged, node.turn)}]`];
      const better = judged.judgement && node.parent?.judged;
      if (better && node.parent) {
        comments.push(`${texts.better} ${lineText(node.parent, better.pv.slice(0, SHOWN_MOVES))}`);
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
      comments: node.comments,
      white_expected_score: node.judged ? whiteShare(node.judged, node.turn) : null,
      white_wdl: node.judged?.wdl ? whiteWdl(node.judged.wdl, node.turn) : null,
      score: node.judged ? scoreText(node.judged.score, node.turn) : null,
      best: node.judged ? sansOf(node.position, node.judged.pv) : null,
      loss: node.judged?.loss ?? null,
      judgement: node.judged?.judgement ?? null,
    }));
    const opening = openingOf(this.line.at(-1) ?? this.app.root);
    const text = JSON.stringify({ tags: Object.fromEntries(this.app.tags), opening, positions }, null, 2);
    saveFile('report.json', 'application/json', text);
  }
}

/** An evaluation as PGN writes it: pawns, or `#-3`, from White's view. */
function evaluation({ score }: Judged, turn: Color): string {
  const sign = turn === 'white' ? 1 : -1;
  if (score.mate !== undefined) return `#${sign * score.mate}`;
  return ((sign * (score.cp ?? 0)) / 100).toFixed(2);
}
