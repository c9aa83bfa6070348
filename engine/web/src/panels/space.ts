// The map of the space: a sample, the game as a path, and the legal moves as candidates.

import { Chessground } from '@lichess-org/chessground';
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { App } from '../app.js';
import { button, element, shape } from '../dom.js';
import { texts } from '../language.js';
import { decided, scoreAt, turnOf } from '../map.js';
import type { Place, Sampled, Space } from '../protocol.js';
import { percent } from '../score.js';
import type { TreeNode } from '../tree.js';
import { PositionPanel } from './task.js';

const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = 14;

/** Time of a position in a game that plays itself, in milliseconds. */
const STEP = 500;

export class SpacePanel extends PositionPanel {
  readonly element: HTMLElement;
  private sample: Sampled[] | null = null;
  private readonly up = element('span');
  private readonly down = element('span');
  private readonly frame = element('div', { class: 'map-frame' });
  private readonly where = element('p', { id: 'where' });
  private readonly player = button('', () => this.toggle(), { id: 'play-game' });
  private readonly nearTitle = element('h2', {}, texts.spaceNear.alike);
  private readonly nearBox = element('div', { class: 'near', id: 'near' });
  private readonly note = element('p', { class: 'note' });
  private readonly popup = element('div', { class: 'popup', hidden: true });
  private readonly here = shape('circle', { r: 7, fill: 'var(--blunder)', stroke: 'var(--paper)', 'stroke-width': 2, id: 'here' });
  private svg: SVGElement | null = null;
  /** The timer of a game that plays itself. */
  private timer: number | null = null;
  /** The position that such a game goes to. */
  private next: TreeNode | null = null;

  constructor(app: App) {
    super(app);
    const { lost, won } = texts.spaceAxes;
    this.element = element(
      'div',
      { class: 'space' },
      element('p', { class: 'axis' }, this.up),
      this.frame,
      element('p', { class: 'axis' }, element('span', {}, `← ${lost}`), this.down, element('span', {}, `${won} →`)),
      element('div', { class: 'row' }, this.player, this.where, this.message),
      this.nearTitle,
      this.nearBox,
      element('details', {}, element('summary', {}, texts.researchers), this.note),
    );
    this.pause();
  }

  override leave(): void {
    super.leave();
    this.pause();
  }

  protected show(node: TreeNode): void {
    if (node !== this.next) this.pause();
    this.player.disabled = !this.app.root.children.length;
    const isFirst = this.sample === null;
    const { recording } = this.app;
    if (recording) {
      this.learn(recording.space(node, isFirst));
      return;
    }
    this.ask(node, { name: 'space', sample: isFirst }, (event) => {
      if (event.type === 'space') this.learn(event);
    });
  }

  /** Lets the game play itself from the position on the board, or from the start; or pauses it. */
  private toggle(): void {
    if (this.timer !== null) {
      this.pause();
      return;
    }
    const { current, root } = this.app;
    if (!current.children.length) this.app.go(root);
    this.timer = window.setInterval(() => this.step(), STEP);
    this.player.textContent = `❚❚ ${texts.pauseGame}`;
  }

  private step(): void {
    // The engine has not yet placed the position.
    if (this.app.engine.runs('space')) return;
    this.next = this.app.current.children[0] ?? null;
    if (this.next) this.app.go(this.next);
    if (!this.next?.children.length) this.pause();
  }

  private pause(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.player.textContent = `▶\uFE0E ${texts.playGame}`;
  }

  arrows(): DrawShape[] {
    return [];
  }

  private learn(found: Space): void {
    if (found.sample) {
      this.sample = found.sample;
      this.svg = null;
    }
    this.note.textContent = texts.spaceIntro(texts.spaceWeights[found.weights]);
    this.draw(found);
    // In the file of a report, a position of a variation stands where the variation begins.
    const { current, recording } = this.app;
    this.describe(found, recording ? current.onMainLine() : current);
  }

  /** From cosines and coordinates to the picture. The ends of the sample fix the scale. */
  private placer(): (at: Place) => [number, number] {
    const all = this.sample ?? [];
    const wide = Math.max(0.05, ...all.map((one) => Math.abs(one.at[0])));
    const high = Math.max(0.05, ...all.map((one) => Math.abs(one.at[1])));
    const within = (value: number) => Math.max(-1, Math.min(1, value));
    return ([x, y]) => [
      WIDTH / 2 + (WIDTH / 2 - MARGIN) * within(x / wide),
      HEIGHT / 2 - (HEIGHT / 2 - MARGIN) * within(y / high),
    ];
  }

  private draw(found: Space): void {
    const place = this.placer();
    if (!this.svg) {
      this.svg = this.background(place);
      this.frame.replaceChildren(this.svg, this.popup);
      this.nameAxis();
    }
    const svg = this.svg;
    svg.querySelector('#game')?.remove();
    const here = found.path.at(-1) ?? [0, 0];
    svg.setAttribute('aria-label', texts.spaceLabel(here[0].toFixed(3), found.candidates.length));
    const layer = shape('g', { id: 'game' });
    for (const candidate of found.candidates) {
      const [cx, cy] = place(candidate.at);
      const [x, y] = place(here);
      layer.append(
        shape('line', { x1: x, y1: y, x2: cx, y2: cy, stroke: 'var(--soft)', 'stroke-width': 0.7, opacity: 0.5 }),
        shape('circle', { cx, cy, r: 4, fill: 'var(--mistake)', stroke: 'var(--paper)', class: 'candidate' }, shape('title', {}, `${candidate.san} ${percent(candidate.p)}`)),
      );
    }
    const curve = { fill: 'none', stroke: 'var(--curve)', 'stroke-width': 2.5 };
    if (found.ahead) layer.append(shape('path', { ...curve, d: smooth(found.ahead.map(place)), opacity: 0.35 }));
    layer.append(shape('path', { ...curve, d: smooth(found.path.map(place)), id: 'game-path' }));
    const { root, current, recording } = this.app;
    const line = recording || current.isOnMainLine() ? root.mainLine() : [root, ...current.path()];
    const all = [...found.path, ...(found.ahead ?? []).slice(1)];
    all.forEach((at, ply) => {
      const [cx, cy] = place(at);
      const dot = shape('circle', { cx, cy, r: 2.5, fill: 'var(--curve)', class: 'step', stroke: 'transparent', 'stroke-width': 9 });
      dot.addEventListener('click', () => {
        const node = line[ply];
        if (node) this.app.go(node);
      });
      layer.append(dot);
    });
    // The point stays in the picture, so that it can move.
    svg.insertBefore(layer, this.here);
    const [cx, cy] = place(here);
    this.here.setAttribute('cx', String(cx));
    this.here.setAttribute('cy', String(cy));
  }

  /** Names the vertical axis if it shows whether positions are decided. */
  private nameAxis(): void {
    const { even, decided: far } = texts.spaceAxes;
    const side = decided(this.sample ?? []);
    this.up.textContent = side ? `↑ ${side === 'up' ? far : even}` : '';
    this.down.textContent = side ? `↓ ${side === 'up' ? even : far}` : '';
  }

  private background(place: (at: Place) => [number, number]): SVGElement {
    const svg = shape('svg', { class: 'map', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', id: 'map' });
    const dots = shape('g', { opacity: 0.75 });
    for (const one of this.sample ?? []) {
      const [x, y] = place(one.at);
      const fill = one.mate === undefined ? colour(one.p) : one.mate > 0 ? 'var(--good)' : 'var(--blunder)';
      dots.append(
        one.mate === undefined
          ? shape('circle', { cx: x.toFixed(1), cy: y.toFixed(1), r: 1.8, fill })
          : shape('rect', { x: (x - 2).toFixed(1), y: (y - 2).toFixed(1), width: 4, height: 4, fill }),
      );
    }
    const middle = HEIGHT / 2;
    svg.append(
      dots,
      shape('line', { x1: 8, x2: WIDTH - 18, y1: middle, y2: middle, stroke: 'var(--soft)', 'stroke-dasharray': '6 4' }),
      shape('polygon', { points: `${WIDTH - 18},${middle - 5} ${WIDTH - 6},${middle} ${WIDTH - 18},${middle + 5}`, fill: 'var(--soft)' }),
      this.here,
    );
    svg.addEventListener('pointermove', (event) => this.hover(svg, event, place));
    svg.addEventListener('pointerleave', () => (this.popup.hidden = true));
    return svg;
  }

  /** Shows the board of the sample's position under the pointer. */
  private hover(svg: SVGElement, event: PointerEvent, place: (at: Place) => [number, number]): void {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    const y = ((event.clientY - box.top) / box.height) * HEIGHT;
    let nearest: Sampled | null = null;
    let distance = 8;
    for (const one of this.sample ?? []) {
      const [cx, cy] = place(one.at);
      const away = Math.hypot(cx - x, cy - y);
      if (away < distance) [nearest, distance] = [one, away];
    }
    this.popup.hidden = !nearest;
    if (!nearest) return;
    const left = Math.min(event.clientX - box.left + 12, box.width - 170);
    this.popup.style.left = `${Math.max(0, left)}px`;
    this.popup.style.top = `${event.clientY - box.top + 12}px`;
    if (this.popup.dataset['fen'] === nearest.fen) return;
    this.popup.dataset['fen'] = nearest.fen;
    this.popup.replaceChildren(mini(nearest.fen), element('p', {}, caption(nearest)));
  }

  /** Says where the position lies, and shows those near it. */
  private describe(found: Space, node: TreeNode): void {
    const sample = this.sample ?? [];
    const [cosine] = found.path.at(-1) ?? [0];
    const score = scoreAt(cosine, node.turn, sample);
    this.where.textContent = texts.spaceWhere(texts.percent(String(Math.round(100 * score))));
    const near = found.near.flatMap((at) => sample[at] ?? []);
    this.nearTitle.textContent = texts.spaceNear[found.alike ? 'alike' : 'any'];
    this.nearBox.replaceChildren(
      ...near.map((one) => element('figure', {}, mini(one.fen), element('figcaption', {}, caption(one)))),
    );
  }
}

function caption(one: Sampled): string {
  return `${texts.spaceWhite(percent(one.p))}. ${texts.toMove(texts.side[turnOf(one.fen)])}`;
}

/** A small board. */
function mini(fen: string): HTMLElement {
  const holder = element('div', { class: 'mini cg-wrap', role: 'img', 'aria-label': fen });
  Chessground(holder, { fen, viewOnly: true, coordinates: false, animation: { enabled: false }, drawable: { enabled: false, visible: false } });
  return holder;
}

/** From lost (red) over even (grey) to won (green), for White. */
function colour(p: number): string {
  const hue = Math.round(10 + 120 * p);
  const saturation = Math.round(20 + 110 * Math.abs(p - 0.5));
  return `hsl(${hue} ${saturation}% 48%)`;
}

/** A smooth curve through the points (Catmull-Rom). */
function smooth(points: [number, number][]): string {
  const [first] = points;
  if (!first) return '';
  let path = `M${first[0].toFixed(1)} ${first[1].toFixed(1)}`;
  for (let at = 0; at + 1 < points.length; at += 1) {
    const [b, c] = [points[at] ?? first, points[at + 1] ?? first];
    const [a, d] = [points[at - 1] ?? b, points[at + 2] ?? c];
    const one = [b[0] + (c[0] - a[0]) / 6, b[1] + (c[1] - a[1]) / 6];
    const two = [c[0] - (d[0] - b[0]) / 6, c[1] - (d[1] - b[1]) / 6];
    path += ` C${[...one, ...two, ...c].map((value) => value.toFixed(1)).join(' ')}`;
  }
  return path;
}
