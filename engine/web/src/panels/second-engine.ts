// The lines of the second engine, which `azimuth serve --engine` names, beside those of Azimuth.

import { link } from '#link';
import type { App } from '../app.js';
import { element, labelled, renew } from '../dom.js';
import { Engine } from '../engine.js';
import { texts } from '../language.js';
import { figuresText, lineRows } from '../lines.js';
import type { Info, TaskEvent } from '../protocol.js';
import { keep, kept } from '../storage.js';
import { gameLine, type TreeNode } from '../tree.js';
import { stateOf } from './task.js';

/** Most lines of the second engine. */
const MOST_LINES = 3;

export class SecondEngineView {
  readonly element = element('section', { id: 'second', hidden: true });
  private engine: Engine | null = null;
  /** The position that is analysed. */
  private node: TreeNode | null = null;
  private lines = 0;
  private readonly known = new WeakMap<TreeNode, Info>();
  private readonly isOn = element('input', { type: 'checkbox', id: 'second-on', checked: kept<boolean>('second') ?? true });
  private readonly figures = element('p', { class: 'figures note', id: 'second-figures' });
  private readonly linesBox = element('div');
  private readonly message = element('p', { class: 'note', role: 'status' });

  constructor(private readonly app: App) {
    this.isOn.addEventListener('change', () => {
      keep('second', this.isOn.checked);
      this.begin();
    });
  }

  /** Shows the engine with this name, if the server has one. */
  offer(name: string | undefined): void {
    if (this.engine || !name || !link.another) return;
    const nothing = () => undefined;
    this.engine = new Engine(link.another(), nothing, nothing, (message) => {
      this.message.textContent = texts.failed(message);
    });
    const head = element('div', { class: 'field' }, labelled(name, this.isOn), this.figures);
    this.element.append(head, this.linesBox, this.message);
    this.element.hidden = false;
    this.engine.connect();
    this.begin();
  }

  /** Analyses a position; without one, the analysis ends. */
  analyse(node: TreeNode | null, lines: number): void {
    const count = Math.min(lines, MOST_LINES);
    if (node === this.node && count === this.lines) return;
    this.node = node;
    this.lines = count;
    this.begin();
  }

  private begin(): void {
    const { engine, node } = this;
    if (!engine) return;
    this.message.textContent = '';
    if (node && this.isOn.checked) {
      engine.run(gameLine(node), { name: 'second_engine', lines: this.lines }, (event) => this.hear(node, event));
    } else engine.stop();
    this.draw();
  }

  private hear(node: TreeNode, event: TaskEvent): void {
    if (event.type === 'info') this.known.set(node, event);
    this.message.textContent = stateOf(event) ?? this.message.textContent;
    if (event.type !== 'info' || !this.linesBox.matches(':active')) this.draw();
  }

  private draw(): void {
    const node = this.app.current;
    const isOn = this.isOn.checked;
    const info = (isOn && this.known.get(node)) || null;
    this.figures.textContent = figuresText(info);
    renew(this.linesBox, lineRows(this.app, node, info, isOn ? this.lines : 0));
  }
}
