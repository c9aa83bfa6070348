// Runs one task of the engine at a time.

import type { Message, ServerEvent, Task, TaskEvent, Welcome } from './protocol.js';

/** `renewed`: the server was started again, and this page's address is no longer valid. `loading`: the
 * page has no server, and fetches the engine. */
export type Connection = 'connecting' | 'loading' | 'open' | 'lost' | 'renewed';

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
  /** Whether this task goes on. */
  runs(name: Task['name']): boolean;
  isOpen(): boolean;
}

/** The file of a report has no engine. */
export const NO_ENGINE: Tasks = { run: () => undefined, stop: () => undefined, runs: () => false, isOpen: () => false };

interface Running {
  id: number;
  line: GameLine;
  task: Task;
  listener: Listener;
}

/** The connection to the engine. */
export interface Link {
  /** Connects, and again whenever the connection was lost. */
  open(onState: (state: Connection) => void, hear: (event: ServerEvent) => void): void;
  isOpen(): boolean;
  send(message: Message): void;
  /** Another connection, for the second engine. Without a server there is none. */
  another?(): Link;
}

export class Engine implements Tasks {
  private running: Running | null = null;
  private lastId = 0;

  constructor(
    private readonly link: Link,
    private readonly onConnection: (state: Connection) => void,
    private readonly onWelcome: (welcome: Welcome) => void,
    private readonly onFault: (message: string) => void,
  ) {}

  connect(): void {
    const onState = (state: Connection) => {
      this.onConnection(state);
      // The task that was interrupted begins again.
      if (state === 'open' && this.running) this.send(this.running);
    };
    this.link.open(onState, (event) => this.hear(event));
  }

  isOpen(): boolean {
    return this.link.isOpen();
  }

  run(line: GameLine, task: Task, listener: Listener): void {
    this.lastId += 1;
    this.running = { id: this.lastId, line, task, listener };
    if (this.isOpen()) this.send(this.running);
  }

  stop(): void {
    if (!this.running) return;
    this.running = null;
    if (this.isOpen()) this.link.send({ type: 'stop' });
  }

  runs(name: Task['name']): boolean {
    return this.running?.task.name === name;
  }

  private send({ id, line, task }: Running): void {
    this.link.send({ type: 'run', id, ...line, task });
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
