// Analysis: lines of the engine, the threat, and loading and saving games.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { makeFen } from 'chessops/fen';
import { opposite } from 'chessops/util';
import { gamesIn } from '#link';
import type { App, Panel } from '../app.js';
import type { Editing, Grab } from '../boardview.js';
import { button, byId, element, labelled, renew, saveFile } from '../dom.js';
import { texts } from '../language.js';
import { figuresText, lineRows } from '../lines.js';
import { LARGEST_FILE, tagsOf, titleOf, treeOf, writeGame } from '../pgn.js';
import type { FileGame, Info, Task, TaskEvent, Welcome } from '../protocol.js';
import { expectedScore, wdlText, whiteShare, whiteWdl } from '../score.js';
import { SizeChoice } from '../size.js';
import { keep, kept } from '../storage.js';
import { arrowOf, gameLine, newGame, rootOf, type TreeNode } from '../tree.js';
import { Editor } from './editor.js';
import { ExplorerView } from './explorer.js';
import { SecondEngineView } from './second-engine.js';
import { TablesView } from './tables.js';
import { stateOf } from './task.js';

/** Expected score below the best move's from which on a line has no arrow. */
const ARROW_LOSS = 0.24;

/** Smallest hash that the page offers, in MB. */
const LEAST_HASH = 16;

const WIDEST = 14;
const NARROWEST = 3;

export class AnalysePanel implements Panel {
  readonly element: HTMLElement;
  private on = true;
  private lines = kept<number>('lines') ?? 3;
  private readonly threads = new SizeChoice('threads', texts.threads, 1, () => this.begin());
  private readonly hash = new SizeChoice('hash', texts.hash, LEAST_HASH, () => this.begin());
  /** The position that the engine analyses. */
  private node: TreeNode | null = null;
  private threat: { of: TreeNode; uci: string | null } | null = null;
  /** The state of the engine, where it has one to tell. */
  private stopped = '';
  /** About the loaded game or the clipboard; stays until the position changes. */
  private notice = '';
  /** Number of texts that were loaded. */
  private loads = 0;
  private readonly toggle: HTMLButtonElement;
  private readonly linesBox = element('div');
  private readonly figures = element('p', { class: 'figures note' });
  private readonly chances = element('p', { class: 'figures note' });
  private readonly message = element('p', { class: 'note', role: 'status' });
  private readonly input = element('textarea', { rows: '3', placeholder: texts.loadHint, 'aria-label': texts.loadHint, spellcheck: 'false' });
  private readonly loading: HTMLDetailsElement;
  private readonly games = element('select', { 'aria-label': texts.game });
  private readonly second: SecondEngineView;
  private readonly tables: TablesView;
  private readonly explorer: ExplorerView;
  private readonly editor: Editor;
  private readonly setUp = button(texts.setUp, () => this.openEditor(), { id: 'set-up' });
  /** Everything but the editor. */
  private readonly analysis: HTMLElement;

  constructor(
    private readonly app: App,
    grab: Grab,
  ) {
    this.second = new SecondEngineView(app);
    this.tables = new TablesView(app);
    this.explorer = new ExplorerView(app);
    this.editor = new Editor(app, grab, (fen) => this.closeEditor(fen));
    this.toggle = button('', () => this.switch());
    const lines = element('input', { type: 'number', min: '1', max: '10', value: String(this.lines), 'aria-label': texts.lines });
    lines.addEventListener('change', () => {
      this.lines = Math.max(1, Math.min(10, Math.round(Number(lines.value)) || 1));
      lines.value = String(this.lines);
      keep('lines', this.lines);
      this.begin();
    });
    const file = element('input', { type: 'file', accept: '.pgn,.fen,.epd,.txt,.gz,.bz2,.zst', 'aria-label': texts.openFile });
    file.addEventListener('change', () => void this.readFile(file));
    this.games.hidden = true;
    this.loading = element(
      'details',
      { id: 'load' },
      element('summary', {}, texts.load),
      this.input,
      element('div', { class: 'row' }, button(texts.loadButton, () => this.loadText(this.input.value), { id: 'load-button' }), file),
      labelled('', this.games),
      element(
        'div',
        { class: 'row' },
        button(texts.promoteLine, () => {
          this.app.current.promote();
          this.app.update();
        }),
        button(texts.deleteFrom, () => this.deleteFrom()),
        button(texts.anew, () => this.begun(newGame()), { id: 'anew' }),
      ),
    );
    this.analysis = element(
      'div',
      {},
      element('div', { class: 'row' }, this.toggle, labelled(texts.lines, lines), this.figures),
      this.chances,
      this.linesBox,
      this.message,
      this.second.element,
      this.tables.element,
      this.explorer.element,
      this.loading,
      element(
        'div',
        { class: 'row' },
        this.setUp,
        button(texts.copyFen, () => void this.copy(this.app.current.fen), { id: 'copy-fen' }),
        button(texts.copyPgn, () => void this.copy(writeGame(this.app.tags, this.app.root))),
        button(texts.savePgn, () => saveFile('game.pgn', 'application/x-chess-pgn', writeGame(this.app.tags, this.app.root))),
      ),
      element('div', { class: 'row' }, this.threads.element, this.hash.element),
    );
    this.element = element('div', {}, this.analysis, this.editor.element);
    this.linesBox.id = 'lines';
    this.figures.id = 'figures';
    document.addEventListener('paste', (event) => this.paste(event));
    // The field has the text after the event.
    this.input.addEventListener('paste', () => setTimeout(() => this.loadText(this.input.value)));
  }

  /** Offers the threads and the hash that the server allows, and its second engine. */
  offer({ threads, hash, second }: Welcome): void {
    this.threads.offer(threads);
    this.hash.offer(hash);
    this.second.offer(second);
  }

  editing(): Editing | null {
    return this.editor.isOpen ? this.editor : null;
  }

  open(): void {
    this.stopped = '';
    this.node = null;
  }

  leave(): void {
    this.app.engine.stop();
    this.second.analyse(null, this.lines);
    this.node = null;
  }

  update(): void {
    if (this.node !== this.app.current) {
      this.notice = '';
      this.threat = null;
      this.begin();
    }
    this.draw();
  }

  /** Stops the search while nobody looks. */
  pause(hidden: boolean): void {
    if (hidden) this.leave();
    else this.update();
  }

  onKey(key: string): boolean {
    if (this.editor.isOpen) return false;
    if (key === 'l') this.switch();
    else if (key === 'x') this.showThreat();
    else if (key === ' ') this.playBest();
    else return false;
    return true;
  }

  private switch(): void {
    this.on = !this.on;
    this.stopped = '';
    this.begin();
    this.draw();
  }

  /** Begins to analyse the position on the board. */
  private begin(): void {
    // `pause` begins the search when somebody looks.
    if (document.hidden) {
      this.leave();
      return;
    }
    const node = this.app.current;
    this.node = node;
    this.stopped = '';
    const isIdle = this.editor.isOpen || node.position.isEnd();
    this.second.analyse(isIdle ? null : node, this.lines);
    if (isIdle) this.app.engine.stop();
    else if (this.tables.lacks(node)) this.lookUp(node, 'tablebase');
    else if (this.explorer.lacks(node)) this.lookUp(node, 'book');
    else this.search(node);
  }

  /** Asks for the moves in the tablebases or in the opening book, then searches. */
  private lookUp(node: TreeNode, name: 'tablebase' | 'book'): void {
    this.app.engine.run(gameLine(node), { name }, (event) => {
      this.stopped = stateOf(event) ?? this.stopped;
      if (event.type === 'tablebase') this.tables.learn(node, event.moves);
      else if (event.type === 'book') this.explorer.learn(node, event.moves);
      else if (event.type === 'ended') this.search(node);
      this.draw();
    });
  }

  private search(node: TreeNode): void {
    if (!this.on) {
      this.app.engine.stop();
      return;
    }
    this.app.engine.run(gameLine(node), this.task(this.lines, null), (event) => this.hear(node, event));
  }

  private task(lines: number, milliseconds: number | null): Task {
    return { name: 'analyse', lines, milliseconds, threads: this.threads.chosen, hash: this.hash.chosen };
  }

  private hear(node: TreeNode, event: TaskEvent): void {
    this.stopped = stateOf(event) ?? this.stopped;
    if (event.type === 'info') this.app.learn(node, event);
    if (event.type === 'ended' && (event.reason === 'turn' || event.reason === 'limit')) this.on = false;
    // A press on a button that is drawn again is no click.
    if (event.type !== 'info' || !this.linesBox.matches(':active')) this.draw();
    this.app.redraw();
  }

  private playBest(): void {
    const best = this.app.current.info?.lines[0]?.pv[0];
    const node = best ? this.app.current.playUci(best) : null;
    if (node) this.app.go(node);
  }

  /** The best move of the other side if it were to move. */
  private showThreat(): void {
    const node = this.app.current;
    if (this.threat) {
      this.threat = null;
      this.begin();
      this.app.redraw();
      return;
    }
    if (node.position.isCheck() || node.position.isEnd()) {
      this.stopped = texts.noThreat;
      this.draw();
      return;
    }
    const setup = node.position.toSetup();
    const fen = makeFen({ ...setup, turn: opposite(node.turn), epSquare: undefined });
    this.threat = { of: node, uci: null };
    this.stopped = texts.threat;
    this.app.engine.run({ fen, moves: [] }, this.task(1, 1500), (event) => {
      if (!this.threat) return;
      if (event.type === 'info') this.threat.uci = event.lines[0]?.pv[0] ?? null;
      if (event.type === 'error') this.stopped = texts.failed(event.message);
      this.draw();
      this.app.redraw();
    });
    this.draw();
  }

  arrows(): DrawShape[] {
    const node = this.app.current;
    if (this.threat?.of === node) {
      const [orig, dest] = this.threat.uci ? [this.threat.uci.slice(0, 2), this.threat.uci.slice(2, 4)] : [];
      return orig && dest ? [{ orig: orig as Key, dest: dest as Key, brush: 'red' }] : [];
    }
    return node.info ? bestArrows(node, node.info) : [];
  }

  private draw(): void {
    const node = this.app.current;
    const info = node.info;
    this.toggle.textContent = this.on ? texts.engineOff : texts.engineOn;
    this.toggle.setAttribute('aria-pressed', String(this.on));
    this.figures.textContent = figuresText(info);
    const chances = info?.lines[0]?.wdl;
    this.chances.textContent = chances ? wdlText(whiteWdl(chances, node.turn)) : ' ';
    renew(this.linesBox, lineRows(this.app, node, info, this.lines));
    const state = node.position.isEnd() ? texts.gameOver : this.stopped;
    this.message.textContent = [this.notice, state].filter(Boolean).join(' ');
    this.tables.draw();
    this.explorer.draw();
  }

  private deleteFrom(): void {
    const node = this.app.current;
    if (!node.parent) return;
    node.remove();
    this.app.go(node.parent);
  }

  private async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say(texts.copied);
    } catch {
      this.loading.open = true;
      this.input.value = text;
      this.input.select();
    }
  }

  /** Loads a text that is pasted anywhere but into a field. */
  private paste({ target, clipboardData }: ClipboardEvent): void {
    const text = clipboardData?.getData('text/plain') ?? '';
    if (!text.trim() || (target instanceof Element && target.closest('input, textarea, dialog'))) return;
    this.app.openTab('analyse');
    this.loadText(text);
  }

  private loadText(text: string): void {
    void this.load(new Blob([text]), 'pasted.pgn');
  }

  private async readFile(file: HTMLInputElement): Promise<void> {
    const [chosen] = file.files ?? [];
    if (!chosen) return;
    await this.load(chosen, chosen.name);
    file.value = '';
  }

  private say(text: string): void {
    this.notice = text;
    this.draw();
  }

  /** Shows a new game in place of those that were loaded. */
  private begun(root: TreeNode): void {
    this.newLoad();
    this.open();
    this.hideEditor();
    this.app.load(root, new Map());
    this.games.hidden = true;
    this.loading.open = false;
  }

  private openEditor(): void {
    this.analysis.hidden = true;
    this.editor.open(this.app.current.fen);
    this.begin();
  }

  private hideEditor(): void {
    const hadFocus = this.editor.element.querySelector(':focus-visible');
    this.editor.hide();
    this.analysis.hidden = false;
    if (hadFocus) this.setUp.focus();
  }

  /** Closes the editor, and shows the position that was set up, if there is one. */
  private closeEditor(fen: string | null): void {
    if (fen !== null) {
      this.begun(rootOf(fen));
      return;
    }
    this.open();
    this.hideEditor();
    this.app.update();
  }

  /** The number of a new load; the text of an earlier one is not shown any more. */
  private newLoad(): number {
    this.loading.removeAttribute('aria-busy');
    this.loads += 1;
    return this.loads;
  }

  /** Loads the games or positions of a text or a file. */
  private async load(text: Blob, name: string): Promise<void> {
    const load = this.newLoad();
    if (text.size > LARGEST_FILE) {
      this.say(texts.fileTooLarge);
      return;
    }
    this.loading.setAttribute('aria-busy', 'true');
    const read = await gamesIn(text, name).catch(messageOf);
    if (load !== this.loads) return;
    this.loading.removeAttribute('aria-busy');
    if (typeof read === 'string') {
      this.say(texts.unread(read));
      return;
    }
    const { games, more } = read;
    this.games.replaceChildren(...games.map((game, at) => element('option', { value: at }, nameOf(game, at))));
    this.games.hidden = games.length < 2;
    this.games.onchange = () => this.show(games[Number(this.games.value)]);
    this.explorer.open(games);
    // A game against the engine stays on its board.
    this.app.openTab('analyse');
    this.show(games[0]);
    if (more) this.say(`${this.notice} ${texts.onlyFirst(games.length)}`);
  }

  private show(game: FileGame | undefined): void {
    if (!game) {
      this.say(texts.noGame);
      return;
    }
    const { fault } = game;
    if (!('fen' in game) || (fault && !game.nodes.length && !game.tags.length)) {
      this.say(texts.unread(fault ?? ''));
      return;
    }
    let read;
    try {
      read = treeOf(game);
    } catch (error) {
      this.say(texts.unread(messageOf(error)));
      return;
    }
    this.open();
    this.hideEditor();
    this.loading.open = !this.games.hidden;
    if (!this.loading.open) byId('panels').scrollTop = byId('panel-side').scrollTop = 0;
    this.app.load(read.root, read.tags);
    if (fault) this.say(texts.cut(fault));
    else if (game.variation_fault) this.say(texts.variationCut(game.variation_fault));
    else if (game.dropped_rights) this.say(texts.rightsDropped(game.dropped_rights));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The name of a game or a position in a list. */
function nameOf(game: FileGame, at: number): string {
  const number = `${at + 1}.`;
  if (!('fen' in game)) return `${number} ${texts.unread(game.fault)}`;
  const isPosition = !game.tags.length && !game.nodes.length;
  return `${number} ${isPosition ? (game.comments[0] ?? game.fen) : titleOf(tagsOf(game))}`;
}

/** Arrows of the best lines: the width falls with the loss of expected score. */
function bestArrows(node: TreeNode, info: Info): DrawShape[] {
  const best = info.lines[0] ? expectedScore(info.lines[0]) : 0;
  const shapes: DrawShape[] = [];
  info.lines.forEach((line, at) => {
    const loss = best - expectedScore(line);
    if (loss > ARROW_LOSS) return;
    const lineWidth = Math.round(WIDEST - (WIDEST - NARROWEST) * (loss / ARROW_LOSS));
    for (const arrow of arrowOf(node.position, line.pv[0], at === 0 ? 'blue' : 'paleBlue')) {
      shapes.push({
        ...arrow,
        modifiers: { lineWidth },
        ...(at === 0 ? {} : { label: { text: `${Math.round(100 * whiteShare(line, node.turn))}` } }),
      });
    }
  });
  // The best line is drawn last, above the others.
  return shapes.reverse();
}
