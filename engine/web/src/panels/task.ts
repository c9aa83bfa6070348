// The parts that panels with tasks of the engine share.

import type { DrawShape } from '@lichess-org/chessground/draw';
import type { App, Panel } from '../app.js';
import { element } from '../dom.js';
import { texts } from '../language.js';
import type { Task, TaskEvent } from '../protocol.js';
import { gameLine, type TreeNode } from '../tree.js';

/** The state of a task in words; null for an event that brings a result. */
export function stateOf(event: TaskEvent): string | null {
  switch (event.type) {
    case 'queued':
      return texts.queued(event.place);
    case 'begun':
      return '';
    case 'error':
      return texts.failed(event.message);
    case 'ended':
      return texts.ended[event.reason];
    default:
      return null;
  }
}

/** A panel that asks the engine once about each position that comes onto the board. */
export abstract class PositionPanel implements Panel {
  abstract readonly element: HTMLElement;
  /** The position that the panel shows. */
  protected node: TreeNode | null = null;
  protected readonly message = element('p', { class: 'note', role: 'status' });

  constructor(protected readonly app: App) {}

  leave(): void {
    this.app.engine.stop();
    this.node = null;
  }

  update(): void {
    const node = this.app.current;
    if (this.node === node) return;
    this.node = node;
    this.show(node);
  }

  /** Another position is on the board. */
  protected abstract show(node: TreeNode): void;

  abstract arrows(): DrawShape[];

  /** Runs a task, and shows its state. `hear` gets the other events, and the end. */
  protected ask(node: TreeNode, task: Task, hear: (event: TaskEvent) => void): void {
    this.app.engine.run(gameLine(node), task, (event) => {
      const state = stateOf(event);
      if (state !== null) this.message.textContent = state;
      hear(event);
    });
  }
}
