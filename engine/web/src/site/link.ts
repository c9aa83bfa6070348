// The engine in a worker of the page, in place of the server.

import type { Connection, Link } from '../engine.js';
import { texts } from '../language.js';
import type { FileGames, Message, ServerEvent } from '../protocol.js';
import { module, weights } from './files.js';
import { BEAM, SELECTIVE } from './module.js';
import type { Answer, Order } from './worker.js';

/** A task that goes on longer after its stop ends with its worker, in milliseconds. */
const PATIENCE = 1000;

/** The weights, fetched one after the other, so that there is one progress bar at a time. */
async function allWeights(): Promise<Uint8Array[]> {
  return [await weights(BEAM), await weights(SELECTIVE)];
}

/** A worker, and the way to give it orders. */
function hire(hear: (answer: Answer) => void): { order: (order: Order) => void; end: () => void } {
  const worker = new Worker('worker.js');
  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => hear(data));
  // A file that cannot be fetched has no message.
  worker.addEventListener('error', ({ message }) => hear({ type: 'failed', message: message || 'cannot start worker.js' }));
  return { order: (order) => worker.postMessage(order), end: () => worker.terminate() };
}

class WorkerLink implements Link {
  private worker: ReturnType<typeof hire> | null = null;
  private isReady = false;
  /** Number of starts; an earlier one that still loads is forgotten. */
  private starts = 0;
  /** The task that the worker runs. Its address exists until the task is stopped. */
  private running: { id: number; address: string } | null = null;
  /** The task after it. */
  private next: Extract<Message, { type: 'run' }> | null = null;
  private timer: number | undefined;
  private onState: (state: Connection) => void = () => undefined;
  private hear: (event: ServerEvent) => void = () => undefined;

  open(onState: (state: Connection) => void, hear: (event: ServerEvent) => void): void {
    this.onState = onState;
    this.hear = hear;
    void this.start();
  }

  isOpen(): boolean {
    return this.isReady;
  }

  send(message: Message): void {
    this.next = message.type === 'run' ? message : null;
    if (!this.running) {
      this.begin();
      return;
    }
    URL.revokeObjectURL(this.running.address);
    this.timer ??= window.setTimeout(() => void this.start(), PATIENCE);
  }

  /** Starts a worker in place of the one before. */
  private async start(): Promise<void> {
    this.end();
    this.onState('loading');
    this.starts += 1;
    const start = this.starts;
    try {
      const [compiled, loaded] = await Promise.all([module(), allWeights()]);
      if (start !== this.starts) return;
      this.worker = hire((answer) => this.answered(answer));
      this.worker.order({ type: 'start', module: compiled, weights: loaded });
    } catch (error) {
      this.fault(error);
      addEventListener('online', () => void this.start(), { once: true });
    }
  }

  private end(): void {
    clearTimeout(this.timer);
    if (this.running) URL.revokeObjectURL(this.running.address);
    this.worker?.end();
    this.timer = undefined;
    this.worker = this.running = this.next = null;
    this.isReady = false;
  }

  private begin(): void {
    if (!this.next) return;
    const address = URL.createObjectURL(new Blob());
    this.running = { id: this.next.id, address };
    this.worker?.order({ type: 'task', message: JSON.stringify(this.next), address });
    this.next = null;
  }

  private answered(answer: Answer): void {
    if (answer.type === 'sent') this.hear(JSON.parse(answer.message) as ServerEvent);
    else if (answer.type === 'idle') this.idle();
    else this.failed(answer.message);
  }

  private idle(): void {
    if (!this.isReady) {
      this.isReady = true;
      this.onState('open');
      return;
    }
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.running) URL.revokeObjectURL(this.running.address);
    this.running = null;
    this.begin();
  }

  private failed(message: string): void {
    const { running } = this;
    this.end();
    if (!running) {
      this.fault(message);
      return;
    }
    this.hear({ type: 'error', id: running.id, message });
    void this.start();
  }

  private fault(error: unknown): void {
    this.hear({ type: 'error', id: null, message: error instanceof Error ? error.message : String(error) });
  }
}

export const link = new WorkerLink();

/** The games that the engine reads in a text or a file, in a separate worker. */
export async function gamesIn(text: Blob, name: string): Promise<FileGames> {
  const [compiled, file] = await Promise.all([module(), text.arrayBuffer()]);
  return new Promise((resolve, reject) => {
    const worker = hire((answer) => {
      if (answer.type === 'sent') resolve(JSON.parse(answer.message) as FileGames);
      else reject(new Error(answer.type === 'failed' ? answer.message : texts.noAnswer));
      worker.end();
    });
    worker.order({ type: 'games', module: compiled, name, file: new Uint8Array(file) });
  });
}
