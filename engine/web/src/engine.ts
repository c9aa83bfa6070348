// The connection to the engine: runs one task at a time, and connects again when it was lost. After a
// restart, the server has another token, and no attempt can succeed.

import type { ServerEvent, Task, TaskEvent, Welcome } from './protocol.js';

/** Pauses before the next attempts to connect, in milliseconds. */
const PAUSES = [250, 500, 1000, 2000, 5000];

/** `renewed`: the server was started again, and this page's address is no longer valid. */
export type Connection = 'connecting' | 'open' | 'lost' | 'renewed';

/** A game up to a position: the first position, and the moves in SAN. */
export interface GameLine {
  fen: string;
  moves: string[];
}

export type Listener = (event: TaskEvent) => void;

/** Runs tasks. */
export interface Tasks {
  /** Begins a task, and ends the one before. */
  run(line: GameLine, task: Task, listener: Listener): void;
  /** Ends the task. Its listener hears nothing more. */
  stop(): void;
  isOpen(): boolean;
}

/** The file of a report has no engine. */
export const NO_ENGINE: Tasks = { run: () => undefined, stop: () => undefined, isOpen: () => false };

interface Running {
  id: number;
  line: GameLine;
  task: Task;
  listener: Listener;
}

export class Engine implements Tasks {
  private socket: WebSocket | null = null;
  private running: Running | null = null;
  private lastId = 0;
  private attempts = 0;

  constructor(
    private readonly onConnection: (state: Connection) => void,
    private readonly onWelcome: (welcome: Welcome) => void,
    private readonly onFault: (message: string) => void,
  ) {}

  connect(): void {
    const address = new URL('socket', location.href);
    address.protocol = 'ws:';
    this.onConnection(this.attempts === 0 ? 'connecting' : 'lost');
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.addEventListener('open', () => {
      this.attempts = 0;
      this.onConnection('open');
      // The task that was interrupted begins again.
      if (this.running) this.send(this.running);
    });
    socket.addEventListener('message', (message) => this.hear(JSON.parse(String(message.data)) as ServerEvent));
    socket.addEventListener('close', () => void this.closed());
  }

  private async closed(): Promise<void> {
    this.onConnection('lost');
    // A browser does not tell a page why a WebSocket was refused.
    if (this.attempts > 0 && (await isRefused())) {
      this.onConnection('renewed');
      return;
    }
    const pause = PAUSES[Math.min(this.attempts, PAUSES.length - 1)];
    this.attempts += 1;
    setTimeout(() => this.connect(), pause);
  }

  isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  run(line: GameLine, task: Task, listener: Listener): void {
    this.lastId += 1;
    this.running = { id: this.lastId, line, task, listener };
    if (this.isOpen()) this.send(this.running);
  }

  stop(): void {
    if (!this.running) return;
    this.running = null;
    if (this.isOpen()) this.socket?.send(JSON.stringify({ type: 'stop' }));
  }

  private send({ id, line, task }: Running): void {
    this.socket?.send(JSON.stringify({ type: 'run', id, ...line, task }));
  }

  private hear(event: ServerEvent): void {
    if (event.type === 'welcome') {
      this.onWelcome(event);
      return;
    }
    if (event.id === null) {
      this.onFault(event.message);
      return;
    }
    const running = this.running;
    if (!running || running.id !== event.id) return;
    if (event.type === 'ended' || event.type === 'error') this.running = null;
    running.listener(event);
  }
}

/** Whether the server answers, and refuses the token of this page. */
async function isRefused(): Promise<boolean> {
  try {
    return (await fetch('./', { method: 'HEAD', cache: 'no-store' })).status === 403;
  } catch {
    return false;
  }
}
