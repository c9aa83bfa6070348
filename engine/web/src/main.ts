// The page: puts the parts together.

import { App, TABS, type Tab } from './app.js';
import { BoardView } from './boardview.js';
import { byId, button, element } from './dom.js';
import { Engine } from './engine.js';
import { last, listen } from './keys.js';
import { MovesList } from './moves.js';
import { AnalysePanel } from './panels/analyse.js';
import { PlayPanel } from './panels/play.js';
import { ReportPanel } from './panels/report.js';
import { SpacePanel } from './panels/space.js';
import { WhyPanel } from './panels/why.js';
import { titleOf } from './pgn.js';
import { texts } from './texts.js';

let shownTab: Tab | null = null;

const announce = (text: string) => {
  byId('announcement').textContent = text;
};

const engine = new Engine(
  (state) => {
    byId('connection').textContent = state === 'open' ? '' : texts.connection[state];
    document.body.dataset['connection'] = state;
  },
  (elo) => {
    app.elo = elo;
    play.drawSetup();
  },
  (message) => {
    byId('connection').textContent = texts.failed(message);
  },
);

const app = new App(engine, draw, announce);
const view = new BoardView((move) => app.move(move));
const moves = new MovesList(app);
const play = new PlayPanel(app, (side) => view.flip(side));
const analyse = new AnalysePanel(app);
app.panels = { play, analyse, why: new WhyPanel(app), space: new SpacePanel(app), report: new ReportPanel(app) };

function draw(): void {
  const panel = app.panel();
  const node = app.current;
  view.show({
    node,
    movable: panel.movable?.() ?? 'both',
    arrows: app.arrowsShown ? panel.arrows() : [],
    premove: app.tab === 'play' && play.premove(),
  });
  moves.draw();
  byId('moves-section').hidden = !panel.listsMoves;
  byId('title').textContent = app.tags.size ? titleOf(app.tags) : '';
  for (const tab of TABS) {
    const chosen = tab === app.tab;
    const head = byId(`tab-${tab}`);
    head.setAttribute('aria-selected', String(chosen));
    head.tabIndex = chosen ? 0 : -1;
    byId(`panel-${tab}`).hidden = !chosen;
  }
  if (shownTab !== app.tab) {
    shownTab = app.tab;
    byId('panels').scrollTop = byId('panel-side').scrollTop = 0;
  }
  const [back, on] = [!node.parent, !node.children.length];
  byId<HTMLButtonElement>('first').disabled = byId<HTMLButtonElement>('previous').disabled = back;
  byId<HTMLButtonElement>('next').disabled = byId<HTMLButtonElement>('last').disabled = on;
}

function makeTabs(): void {
  const tabs = byId('tabs');
  tabs.setAttribute('aria-label', 'Azimuth');
  for (const tab of TABS) {
    const head = button(texts.tabs[tab], () => app.openTab(tab), { role: 'tab', id: `tab-${tab}`, 'aria-controls': `panel-${tab}` });
    tabs.append(head);
    const panel = element('div', { role: 'tabpanel', id: `panel-${tab}`, class: 'panel', 'aria-labelledby': `tab-${tab}`, tabindex: '0' });
    panel.append(app.panels[tab].element);
    byId('panels').append(panel);
  }
  tabs.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(app.tab) + step + TABS.length) % TABS.length] as Tab;
    app.openTab(next);
    byId(`tab-${next}`).focus();
  });
}

function makeControls(): void {
  const controls: [string, string, () => void][] = [
    ['first', texts.first, () => app.go(app.root)],
    ['previous', texts.previous, () => app.go(app.current.parent ?? app.current)],
    ['next', texts.next, () => app.go(app.current.children[0] ?? app.current)],
    ['last', texts.last, () => app.go(last(app.current))],
    ['flip', texts.flip, () => view.flip()],
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
  const list = element('dl', {}, ...texts.keys.flatMap(([key, effect]) => [element('dt', {}, key), element('dd', {}, effect)]));
  dialog.replaceChildren(element('h2', { id: 'help-title' }, texts.help), list, button(texts.close, () => dialog.close()));
  dialog.showModal();
}

makeTabs();
makeControls();
listen(app, {
  flip: () => view.flip(),
  help,
  typeMove: () => byId('move-input').focus(),
  toggleArrows: () => {
    app.arrowsShown = !app.arrowsShown;
    draw();
  },
});
// Nobody sees the search of a hidden page.
document.addEventListener('visibilitychange', () => {
  if (app.tab === 'analyse') analyse.pause(document.hidden);
});
if (play.restore() && play.isPlaying()) {
  app.openTab('play');
} else {
  app.update();
}
engine.connect();
