// A game against the engine.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Color, Move } from 'chessops/types';
import { opposite } from 'chessops/util';
import type { App, Panel } from '../app.js';
import { Clock, clockComment, timeOf, type ClockState } from '../clock.js';
import { button, element, labelled, saveFile } from '../dom.js';
import { canWin, draw, endOf, lossOf, type End } from '../game-end.js';
import { texts } from '../language.js';
import { play as playSound } from '../look.js';
import { gameText, treeOf, writeGame } from '../pgn.js';
import type { GameText, PlayTime, TaskEvent } from '../protocol.js';
import { confirmed } from '../question.js';
import { keep, kept } from '../storage.js';
import { arrowOf, gameLine, lineTo, newGame, rootOf, sansOf, type TreeNode } from '../tree.js';
import { stateOf } from './task.js';

/** Time for a move without a clock, and for the evaluation and a hint, in milliseconds. */
const MOVE_TIME = 1000;

/** The engine agrees to a draw if its score in centipawns is at most this, from this move on. */
const DRAW_SCORE = 20;
const DRAW_MOVE = 10;

/** The choice of a time that is not in the list. */
const OTHER_TIME = 'other';

interface Settings {
  elo: number | null;
  side: Color | 'random';
  time: string | null;
  /** Whether a limited strength answers at once on a clock, and does not take a person's time. */
  atOnce: boolean;
  /** Whether the evaluation is shown during the game. */
  evaluation: boolean;
}

/** What is kept in the browser. */
interface Kept {
  moves: GameText;
  me: Color;
  elo: number | null;
  seed: number;
  clock: ClockState | null;
  control: string | null;
  end: End | null;
}

interface Game {
  me: Color;
  elo: number | null;
  /** What a limited strength overlooks depends on it. */
  seed: number;
  clock: Clock | null;
  control: string | null;
  end: End | null;
  /** The last position of the game. */
  tip: TreeNode;
  /** The engine's last score in centipawns, from its own view. */
  score: number | null;
}

export class PlayPanel implements Panel {
  readonly element: HTMLElement;
  private game: Game | null = null;
  private settings: Settings = {
    elo: 1500,
    side: 'white',
    time: null,
    atOnce: false,
    evaluation: true,
    ...kept<Partial<Settings>>('settings'),
  };
  /** Whether the best move of the position is shown. */
  private hinting = false;
  private message = '';
  /** What the engine is asked for. `queued` is a move, too, for which no search is free yet; `failed` is one
   * that it cannot choose. */
  private asked: 'move' | 'queued' | 'evaluation' | 'failed' | null = null;
  /** The timer of a move that the engine has not shown yet. */
  private answer: ReturnType<typeof setTimeout> | undefined;
  private shownSetup = false;
  private readonly setup = element('div');
  private readonly table = element('div');
  private readonly status = element('p', { role: 'status', id: 'game-status' });
  private readonly actions = element('div', { class: 'row' });

  constructor(
    private readonly app: App,
    private readonly turnBoard: (side: Color) => void,
    private readonly drawClocks: () => void,
    /** Opens the report on the game. */
    private readonly report: () => void,
  ) {
    this.table.append(this.status, this.actions);
    this.element = element('div', {}, this.table, this.setup);
    setInterval(() => this.tick(), 100);
  }

  /** Brings back the game that the browser keeps; one that has ended, too, if `ended`. */
  restore(ended: boolean): void {
    const found = kept<Kept>('game');
    if (!found || (found.end && !ended)) return;
    try {
      const { root, tags } = treeOf(found.moves);
      const tip = root.last();
      const clock = found.clock ? new Clock(found.clock) : null;
      this.game = { ...found, clock, tip, score: null };
      this.app.load(root, tags, tip);
      this.turnBoard(found.me);
    } catch {
      // The browser keeps something else under this name.
    }
  }

  hasGame(): boolean {
    return this.game !== null;
  }

  isPlaying(): boolean {
    return this.game !== null && this.game.end === null;
  }

  open(): void {
    // A game that is over makes room for another position on the board, from which a game can begin.
    if (this.game?.end && this.app.root !== this.game.tip.root()) this.game = null;
    const game = this.game;
    if (game) {
      // Its moves may have been deleted in Analyse.
      for (const step of game.tip.path()) step.add();
      if (this.app.root !== game.tip.root()) this.app.load(game.tip.root(), this.tags(game), game.tip);
      this.app.go(game.tip);
      this.goOn();
    }
  }

  leave(): void {
    this.silence();
    this.game?.clock?.stop();
    this.save();
  }

  update(): void {
    this.draw();
  }

  movable(): 'white' | 'black' | 'both' | 'none' {
    const game = this.game;
    if (!game || game.end || this.app.current !== game.tip) return 'none';
    return game.me;
  }

  clock(): Clock | null {
    return this.game?.clock ?? null;
  }

  hidesEvaluation(): boolean {
    return this.isPlaying() && !this.settings.evaluation;
  }

  onMove(move: Move): boolean {
    const game = this.game;
    if (!game || game.end || this.app.current !== game.tip || game.tip.turn !== game.me) return true;
    const node = game.tip.play(move);
    if (node) this.played(game, node);
    return true;
  }

  arrows(): DrawShape[] {
    const { current } = this.app;
    const best = this.hinting && current === this.game?.tip ? current.info?.lines[0]?.pv[0] : undefined;
    return arrowOf(current.position, best, 'green');
  }

  private async begin(fromHere: boolean): Promise<void> {
    if (this.isPlaying() && this.game?.tip.parent && !(await confirmed(texts.discard, texts.begin))) return;
    const { elo, side, time } = this.settings;
    keep('settings', this.settings);
    const me = side === 'random' ? (Math.random() < 0.5 ? 'white' : 'black') : side;
    const root = fromHere ? rootOf(this.app.current.fen) : newGame();
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    const clock = time ? new Clock(Clock.of(time), root.turn) : null;
    this.game = { me, elo, seed, clock, control: time, end: endOf(root), tip: root, score: null };
    this.silence();
    this.save();
    this.hinting = false;
    this.message = '';
    this.shownSetup = false;
    this.app.load(root, this.tags(this.game));
    this.turnBoard(me);
    this.goOn();
  }

  private tags(game: Game): Map<string, string> {
    const engine = texts.azimuth(game.elo);
    const [white, black] = game.me === 'white' ? [texts.you, engine] : [engine, texts.you];
    const date = new Date();
    const two = (value: number) => String(value).padStart(2, '0');
    const tags = new Map([
      ['Event', 'Azimuth'],
      ['Date', `${date.getFullYear()}.${two(date.getMonth() + 1)}.${two(date.getDate())}`],
      ['White', white],
      ['Black', black],
      ['Result', game.end?.result ?? '*'],
    ]);
    if (game.control) tags.set('TimeControl', game.control);
    return tags;
  }

  /** A move of either side is played. */
  private played(game: Game, node: TreeNode): void {
    const { clock } = game;
    if (clock) {
      clock.stop();
      clock.addIncrement(game.tip.turn);
      node.comments = [clockComment(clock.left(game.tip.turn))];
    }
    // The moves that were tried in Analyse are variations.
    node.promote();
    game.tip = node;
    this.hinting = false;
    this.message = '';
    playSound(node.captured ? 'capture' : 'move');
    this.app.announce(`${node.number} ${node.san}`);
    this.end(game, endOf(node));
    this.app.go(node);
    this.goOn();
  }

  private end(game: Game, end: End | null): void {
    game.end = end;
    if (end) {
      game.clock?.stop();
      this.silence();
      playSound('end');
      this.app.tags = this.tags(game);
    }
    this.save();
  }

  /** Starts the clock, and asks the engine for its move if it is its turn. */
  private goOn(): void {
    const game = this.game;
    if (!game || game.end) {
      this.draw();
      return;
    }
    // The first move of the game has no time limit.
    if (game.tip.ply > 1 || game.tip.turn !== game.me) game.clock?.run(game.tip.turn);
    if (game.tip.turn !== game.me) this.askMove(game);
    else if (this.settings.evaluation) this.evaluate(game);
    this.draw();
  }

  /** Ends what the engine does, and forgets a move that it has not shown yet. */
  private silence(): void {
    this.app.engine.stop();
    clearTimeout(this.answer);
    this.asked = null;
  }

  private askMove(game: Game): void {
    const tip = game.tip;
    this.asked = 'move';
    const time: PlayTime = game.clock
      ? {
          left: [Math.round(game.clock.left('white')), Math.round(game.clock.left('black'))],
          increment: game.clock.state.increment,
        }
      : { milliseconds: MOVE_TIME };
    const task = { name: 'play', elo: game.elo, seed: game.seed, time } as const;
    this.app.engine.run(gameLine(tip), task, (event) => {
      if (this.game !== game || game.tip !== tip || game.end) return;
      if (event.type === 'move') {
        const { cp, mate } = event.score;
        game.score = mate === undefined ? (cp ?? null) : mate > 0 ? 10_000 : -10_000;
        this.answer = setTimeout(
          () => {
            this.asked = null;
            const node = tip.playUci(event.uci);
            if (node) this.played(game, node);
          },
          this.settings.atOnce ? 0 : event.pause,
        );
        return;
      }
      // Azimuth's time begins with its search.
      if (event.type === 'queued') {
        this.asked = 'queued';
        game.clock?.stop();
      } else if (event.type === 'begun') {
        this.asked = 'move';
        game.clock?.run(tip.turn);
      } else if (event.type === 'error') {
        // The game stands still until the person asks again.
        this.asked = 'failed';
        game.clock?.stop();
      }
      this.hearOther(event);
    });
  }

  private hearOther(event: TaskEvent): void {
    if (event.type === 'ended') this.asked = null;
    else this.message = stateOf(event) ?? this.message;
    if (event.type === 'error' && this.asked === 'evaluation') {
      this.asked = null;
      this.hinting = false;
    }
    this.draw();
  }

  private askHint(): void {
    const game = this.game;
    if (!game || game.end || game.tip.turn !== game.me) return;
    this.hinting = true;
    this.app.go(game.tip);
    if (this.asked !== 'evaluation') this.evaluate(game);
    this.showHint(game.tip);
    this.draw();
  }

  private showHint(tip: TreeNode): void {
    const best = tip.info?.lines[0]?.pv[0];
    const [san] = best ? sansOf(tip.position, [best]) : [];
    // Buttons that are drawn again while somebody clicks lose the click.
    if (this.hinting && san && this.message !== texts.hintIs(san)) {
      this.message = texts.hintIs(san);
      this.draw();
    }
    this.app.redraw();
  }

  /** Evaluates the position in which the person is to move. */
  private evaluate(game: Game): void {
    const { tip } = game;
    this.asked = 'evaluation';
    const task = { name: 'analyse', lines: 1, milliseconds: MOVE_TIME } as const;
    this.app.engine.run(gameLine(tip), task, (event) => {
      if (this.game !== game || game.tip !== tip) return;
      if (event.type === 'info') {
        this.app.learn(tip, event);
        this.showHint(tip);
      } else if (event.type === 'error' || event.type === 'ended' || this.hinting) this.hearOther(event);
    });
  }

  private takeBack(): void {
    const game = this.game;
    if (!game) return;
    let before = game.tip.parent;
    while (before && before.turn !== game.me) before = before.parent;
    if (!before) return;
    this.silence();
    game.clock?.stop();
    if (game.control) {
      const { left, increment } = Clock.of(game.control);
      const [white, black] = [timeOf(before, 'white') ?? left[0], timeOf(before, 'black') ?? left[1]];
      game.clock = new Clock({ left: [white, black], increment }, before.turn);
    }
    game.tip = before;
    game.end = null;
    before.children.splice(0);
    this.hinting = false;
    this.message = '';
    this.app.tags = this.tags(game);
    this.app.current = before;
    this.save();
    this.goOn();
    this.app.update();
  }

  private offerDraw(): void {
    const game = this.game;
    if (!game || game.end) return;
    // The answer takes the place of a hint, which would come back with the next event.
    this.hinting = false;
    const early = game.tip.position.fullmoves < DRAW_MOVE;
    if (early) this.message = texts.drawEarly;
    else if (game.score !== null && game.score <= DRAW_SCORE) {
      this.message = texts.drawAccepted;
      this.end(game, draw(texts.results.agreement));
    } else this.message = texts.drawDeclined;
    this.draw();
    this.app.redraw();
  }

  private async resign(): Promise<void> {
    const game = this.game;
    if (!game || !(await confirmed(texts.resignNow, texts.resign)) || game.end) return;
    this.end(game, lossOf(game.me, texts.results.resigns(texts.side[game.me])));
    this.draw();
    this.app.redraw();
  }

  private tick(): void {
    const game = this.game;
    if (!game?.clock || game.end || this.app.tab !== 'play') return;
    // No time goes by while the engine cannot be reached or waits for its turn.
    if (!this.app.engine.isOpen() || this.asked === 'queued' || this.asked === 'failed') {
      game.clock.stop();
    } else if (game.tip.ply > 1 && !game.clock.runs(game.tip.turn)) {
      game.clock.run(game.tip.turn);
    }
    const side = game.tip.turn;
    if (game.clock.left(side) === 0) {
      const loses = canWin(game.tip, opposite(side));
      this.end(game, loses ? lossOf(side, texts.results.time(texts.side[side])) : draw(texts.results.timeDraw));
      this.draw();
      this.app.redraw();
    }
    this.drawClocks();
  }

  /** The game without the moves that were tried in Analyse. */
  private pgn(game: Game): string {
    return writeGame(this.tags(game), lineTo(game.tip).root());
  }

  private save(): void {
    const game = this.game;
    if (!game) return;
    const { me, elo, seed, control, end } = game;
    const clock = game.clock
      ? { left: [game.clock.left('white'), game.clock.left('black')] as [number, number], increment: game.clock.state.increment }
      : null;
    const moves = gameText(this.tags(game), lineTo(game.tip).root());
    keep('game', { moves, me, elo, seed, clock, control, end } satisfies Kept);
  }

  private draw(): void {
    const game = this.game;
    this.table.hidden = !game;
    const form = !game || this.shownSetup;
    this.setup.hidden = !form;
    if (form && !this.setup.childElementCount) this.drawSetup();
    if (!game) return;
    const theirs = this.asked === 'failed' ? '' : texts.thinking;
    const turn = game.end ? game.end.words : game.tip.turn === game.me ? texts.yourMove : theirs;
    this.status.textContent = [turn, this.message].filter(Boolean).join(' ');
    const playing = !game.end;
    const mine = playing && game.tip.turn === game.me;
    const actions: [string, string, () => void, boolean][] = [
      ['takeback', texts.takeback, () => this.takeBack(), game.tip.path().some((node) => node.parent?.turn === game.me)],
      ['hint', texts.hint, () => this.askHint(), mine && !this.hinting],
      ['draw', texts.draw, () => this.offerDraw(), mine],
      ['resign', texts.resign, () => void this.resign(), playing],
      ['save', texts.savePgn, () => saveFile('game.pgn', 'application/x-chess-pgn', this.pgn(game)), true],
      ['again', texts.newGame, () => this.showSetup(), true],
      ['study', texts.analyseGame, () => this.study(game), game.end !== null],
    ];
    if (this.asked === 'failed') actions.unshift(['retry', texts.retry, () => this.goOn(), true]);
    const focused = document.activeElement?.id;
    this.actions.replaceChildren(
      ...actions.map(([id, label, act, enabled]) => button(label, act, { id: `play-${id}`, disabled: !enabled })),
    );
    if (focused?.startsWith('play-')) document.getElementById(focused)?.focus();
  }

  /** Analyses the game alone. */
  private study(game: Game): void {
    game.tip.promote();
    // Moves were tried after the last one of the game.
    if (game.tip.children.length) {
      game.tip = lineTo(game.tip);
      this.app.load(game.tip.root(), this.tags(game), game.tip);
    }
    this.report();
  }

  private showSetup(): void {
    this.shownSetup = !this.shownSetup;
    this.draw();
  }

  /** The form of a new game. A game can begin once the range of ratings is known. */
  drawSetup(): void {
    const [least, most] = this.app.elo;
    const { settings } = this;
    const elo = Math.max(least, Math.min(most || Infinity, settings.elo ?? most));
    const slider = element('input', { type: 'range', min: least, max: most, value: elo, id: 'elo', 'aria-label': texts.rating });
    const number = element('input', { type: 'number', min: least, max: most, value: elo, id: 'elo-number', 'aria-label': texts.rating });
    const full = element('input', { type: 'checkbox', id: 'full' });
    full.checked = settings.elo === null;
    const changed = () => {
      slider.disabled = number.disabled = full.checked || !most;
      if (!most) return;
      const asked = Math.round(Number(number.value)) || least;
      const rating = Math.max(least, Math.min(most, asked));
      settings.elo = full.checked ? null : rating;
    };
    slider.addEventListener('input', () => {
      number.value = slider.value;
      changed();
    });
    number.addEventListener('click', () => number.select());
    number.addEventListener('change', () => {
      changed();
      number.value = slider.value = String(settings.elo ?? most);
    });
    full.addEventListener('change', changed);
    const side = element(
      'select',
      { id: 'side' },
      element('option', { value: 'white' }, texts.side.white),
      element('option', { value: 'black' }, texts.side.black),
      element('option', { value: 'random' }, texts.random),
    );
    side.value = settings.side;
    side.addEventListener('change', () => (settings.side = side.value as Settings['side']));
    const presets = texts.clocks.map(([control]) => control);
    const time = element(
      'select',
      { id: 'time' },
      element('option', { value: '' }, texts.noClock),
      ...texts.clocks.map(([control, name]) => element('option', { value: control }, name)),
      element('option', { value: OTHER_TIME }, texts.otherTime),
    );
    time.value = !settings.time || presets.includes(settings.time) ? (settings.time ?? '') : OTHER_TIME;
    const [seconds, added] = (settings.time ?? '900+10').split('+').map(Number);
    const minutes = element('input', { type: 'number', id: 'minutes', min: 0.5, max: 180, step: 0.5, value: (seconds ?? 900) / 60 });
    const increment = element('input', { type: 'number', id: 'increment', min: 0, max: 180, value: added ?? 10 });
    const own = element('div', { class: 'field' }, labelled(texts.minutes, minutes), labelled(texts.increment, increment));
    const timed = () => {
      const of = (input: HTMLInputElement) => Math.max(Number(input.min), Math.min(Number(input.max), Number(input.value)));
      own.hidden = time.value !== OTHER_TIME;
      settings.time = own.hidden ? time.value || null : `${Math.round(60 * of(minutes))}+${Math.round(of(increment))}`;
    };
    for (const input of [time, minutes, increment]) input.addEventListener('change', timed);
    const here = element('input', { type: 'checkbox', id: 'from-here' });
    const atOnce = element('input', { type: 'checkbox', id: 'at-once' });
    atOnce.checked = settings.atOnce;
    atOnce.addEventListener('change', () => (settings.atOnce = atOnce.checked));
    const evaluation = element('input', { type: 'checkbox', id: 'show-evaluation' });
    evaluation.checked = settings.evaluation;
    evaluation.addEventListener('change', () => (settings.evaluation = evaluation.checked));
    changed();
    timed();
    this.setup.replaceChildren(
      element('h2', {}, texts.newGame),
      element('div', { class: 'field' }, element('span', {}, texts.opponent), number, labelled(texts.fullStrength, full)),
      slider,
      element('div', { class: 'field' }, labelled(texts.youPlay, side), labelled(texts.time, time)),
      own,
      button(texts.begin, () => void this.begin(here.checked), { class: 'primary', id: 'begin', disabled: !most }),
      ...[labelled(texts.fromHere, here), labelled(texts.atOnce, atOnce), labelled(texts.showEvaluation, evaluation)].map((choice) =>
        element('div', { class: 'field' }, choice),
      ),
    );
  }
}
