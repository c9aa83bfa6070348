// The page: puts the parts together.

import { link } from '#link';
import { INITIAL_FEN } from 'chessops/fen';
import type { Color } from 'chessops/types';
import { Address } from './address.js';
import { App, type Tab } from './app.js';
import { BoardView } from './boardview.js';
import { byId, button, element } from './dom.js';
import { Engine, NO_ENGINE } from './engine.js';
import { listen } from './keys.js';
import { texts } from './language.js';
import { makeSwitches } from './look.js';
import { MovesList } from './moves.js';
import { AnalysePanel } from './panels/analyse.js';
import { PlayPanel } from './panels/play.js';
import { ReportPanel } from './panels/report.js';
import { SpacePanel } from './panels/space.js';
import { WhyPanel } from './panels/why.js';
import { gameText, titleOf, treeOf } from './pgn.js';
import { Players } from './players.js';
import type { GameText } from './protocol.js';
import { recordingHere } from './recording.js';
import { keep, kept } from './storage.js';
import type { TreeNode } from './tree.js';

/** Pause before the game on the board is kept, in milliseconds. */
const KEEP_PAUSE = 500;

let shownTab: Tab | null = null;
let keeping: number | null = null;

const announce = (text: string) => {
  byId('announcement').textContent = text;
};

/** The page is the file of a report, or it has an engine. */
const recording = recordingHere();

const engine = new Engine(
  link,
  (state) => {
    byId('connection').textContent = state === 'open' ? '' : texts.connection[state];
    document.body.dataset['connection'] = state;
  },
  (welcome) => {
    app.elo = welcome.elo;
    play?.drawSetup();
    analyse?.offer(welcome);
  },
  (message) => {
    byId('connection').textContent = texts.failed(message);
  },
);

const app = new App(recording ? NO_ENGINE : engine, recording, recording ? 'report' : 'play', draw, announce);
const view = new BoardView((move) => app.move(move));
const moves = new MovesList(app);
const players = new Players(app);
const why = recording ? null : new WhyPanel(app);
const report = new ReportPanel(app, openRecorded, why && ((move) => askWhy(why, move)));
const play = recording ? null : new PlayPanel(app, flip, () => players.drawClocks(), () => report.analyse());
const analyse = recording ? null : new AnalysePanel(app, view.grab);
const space = new SpacePanel(app);
if (play && analyse && why) {
  app.panels.set('play', play).set('analyse', analyse).set('why', why).set('space', space).set('report', report);
} else app.panels.set('report', report).set('space', space);
const address = new Address(app, openRecorded);

/** Opens a game of the file. */
function openRecorded(game: number): void {
  if (!recording) return;
  const { root, tags } = recording.open(game);
  app.load(root, tags);
}

/** Asks why a move of the game is not the best one. */
function askWhy(panel: WhyPanel, move: TreeNode): void {
  if (!move.parent) return;
  panel.question = move.uci;
  app.go(move.parent);
  app.openTab('why');
}

function flip(to?: Color): void {
  view.flip(to);
  players.draw(view.orientation);
}

function draw(): void {
  const panel = app.panel();
  const node = app.current;
  const editing = panel.editing?.() ?? null;
  view.show({
    node,
    editing,
    movable: panel.movable?.() ?? 'both',
    arrows: app.arrowsShown ? panel.arrows() : [],
    premove: app.tab === 'play' && (play?.isPlaying() ?? false),
    evaluation: !panel.hidesEvaluation?.(),
  });
  players.draw(view.orientation);
  moves.draw();
  byId('moves-section').hidden = !!editing;
  const title = app.tags.size ? titleOf(app.tags) : '';
  byId('title').textContent = title;
  document.title = title ? `${title} – Azimuth` : 'Azimuth';
  address.changed();
  keepLater();
  for (const tab of app.tabs) {
    const chosen = tab === app.tab;
    const head = byId(`tab-${tab}`);
    head.setAttribute('aria-selected', String(chosen));
    head.tabIndex = chosen ? 0 : -1;
    byId(`panel-${tab}`).hidden = !chosen;
  }
  if (shownTab !== app.tab) {
    shownTab = app.tab;
    if (!recording) keep('tab', app.tab, true);
    byId('panels').scrollTop = byId('panel-side').scrollTop = 0;
  }
  const [back, on] = [!node.parent || !!editing, !node.children.length || !!editing];
  byId<HTMLButtonElement>('first').disabled = byId<HTMLButtonElement>('previous').disabled = back;
  byId<HTMLButtonElement>('next').disabled = byId<HTMLButtonElement>('last').disabled = on;
  byId<HTMLInputElement>('move-input').disabled = !!editing;
}

function makeTabs(): void {
  const tabs = byId('tabs');
  tabs.setAttribute('aria-label', 'Azimuth');
  for (const [tab, { element: content }] of app.panels) {
    const head = button(texts.tabs[tab], () => app.openTab(tab), { role: 'tab', id: `tab-${tab}`, 'aria-controls': `panel-${tab}` });
    tabs.append(head);
    const panel = element('div', { role: 'tabpanel', id: `panel-${tab}`, class: 'panel', 'aria-labelledby': `tab-${tab}`, tabindex: '0' });
    panel.append(content);
    byId('panels').append(panel);
  }
  tabs.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const { tabs: all } = app;
    const next = all[(all.indexOf(app.tab) + step + all.length) % all.length] ?? app.tab;
    app.openTab(next);
    byId(`tab-${next}`).focus();
  });
}

function makeControls(): void {
  const controls: [string, string, () => void][] = [
    ['first', texts.first, () => app.go(app.root)],
    ['previous', texts.previous, () => app.go(app.current.parent ?? app.current)],
    ['next', texts.next, () => app.go(app.current.children[0] ?? app.current)],
    ['last', texts.last, () => app.go(app.current.last())],
    ['flip', texts.flip, () => flip()],
    ['help-button', texts.help, help],
  ];
  for (const [id, label, act] of controls) {
    const made = byId(id);
    made.setAttribute('aria-label', label);
    made.title = label;
    made.addEventListener('click', act);
  }
  const input = byId<HTMLInputElement>('move-input');
  input.placeholder = texts.moveInput;
  input.setAttribute('aria-label', texts.moveInput);
  byId('move-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const typed = input.value;
    const move = app.current.read(typed);
    if (move) {
      input.value = '';
      app.move(move);
    } else announce(texts.noSuchMove(typed));
    input.setAttribute('aria-invalid', String(!move));
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') input.blur();
  });
  byId('moves-title').textContent = texts.moves;
}

function help(): void {
  const dialog = byId<HTMLDialogElement>('help');
  const tabs = texts.tabKeys(app.tabs.length, app.tabs.map((tab) => texts.tabs[tab]).join(', '));
  const keys = [...texts.keys, ...(recording ? [] : texts.engineKeys), tabs];
  const list = element('dl', {}, ...keys.flatMap(([key, effect]) => [element('dt', {}, key), element('dd', {}, effect)]));
  dialog.replaceChildren(element('h2', { id: 'help-title' }, texts.help), list, button(texts.close, () => dialog.close()));
  dialog.showModal();
}

/** Keeps the game on the board soon, so that the page's address leads to its positions after a reload. */
function keepLater(): void {
  if (recording || app.tab === 'play') return;
  keeping ??= window.setTimeout(keepNow, KEEP_PAUSE);
}

function keepNow(): void {
  if (keeping === null) return;
  clearTimeout(keeping);
  keeping = null;
  if (app.tab !== 'play') keep('analysis', gameText(app.tags, app.root));
}

/** Brings back the game that was analysed, and goes where the address leads. */
function restore(): void {
  const found = kept<GameText>('analysis');
  try {
    // An empty board does not replace the last game against the engine.
    if (found && (found.nodes.length || found.fen !== INITIAL_FEN)) {
      const { root, tags } = treeOf(found);
      app.load(root, tags);
    }
  } catch {
    // The browser keeps something else under this name.
  }
  app.update();
  address.follow();
}

makeTabs();
makeControls();
makeSwitches();
listen(app, {
  flip: () => flip(),
  help,
  typeMove: () => byId('move-input').focus(),
  toggleArrows: () => {
    app.arrowsShown = !app.arrowsShown;
    draw();
  },
});
if (recording) {
  byId('sound').hidden = true;
  openRecorded(0);
  address.follow();
} else {
  // Nobody sees the search of a hidden page.
  document.addEventListener('visibilitychange', () => {
    if (app.tab === 'analyse') analyse?.pause(document.hidden);
  });
  addEventListener('pagehide', keepNow);
  // A new tab of the browser begins with a running game, or else with the game that was analysed last.
  const tab = kept<Tab>('tab');
  play?.restore(tab !== null);
  if ((tab ?? 'play') === 'play' && play?.hasGame()) play.open();
  else restore();
  app.openTab(tab ?? 'play');
  engine.connect();
}
document.body.dataset['ready'] = '';
