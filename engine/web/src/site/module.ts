// The engine as a WebAssembly module. Texts pass in UTF-8 through its memory.

interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  set_weights(which: number, at: number, length: number): number;
  start(): void;
  receive(at: number, length: number): void;
  read_games(nameAt: number, nameLength: number, at: number, length: number): void;
}

/** What the module asks of the page. */
export interface Host {
  /** A message of protocol.ts in JSON. */
  send(message: string): void;
  /** Whether to end the running task. */
  stopped(): boolean;
}

/** The numbers of the weights in the module. */
export const [BEAM, SELECTIVE] = [0, 1];

export class Azimuth {
  private constructor(private readonly exports: Exports) {}

  static async begin(module: WebAssembly.Module, host: Host): Promise<Azimuth> {
    const bytes = (at: number, length: number) => new Uint8Array(azimuth.exports.memory.buffer, at >>> 0, length >>> 0);
    const text = (at: number, length: number) => new TextDecoder().decode(bytes(at, length));
    const env = {
      send: (at: number, length: number) => host.send(text(at, length)),
      print: (at: number, length: number) => console.warn(text(at, length)),
      stopped: () => Number(host.stopped()),
      now: () => performance.now(),
      random: (at: number, length: number) => crypto.getRandomValues(bytes(at, length)),
    };
    const instance = await WebAssembly.instantiate(module, { env });
    const azimuth = new Azimuth(instance.exports as unknown as Exports);
    return azimuth;
  }

  setWeights(which: number, weights: Uint8Array): void {
    if (this.exports.set_weights(which, ...this.give(weights)) !== 0) throw new Error('the engine cannot read its weights');
  }

  start(): void {
    this.exports.start();
  }

  /** Runs the task of a message to its end. */
  receive(message: string): void {
    this.exports.receive(...this.give(message));
  }

  /** Sends the games of a file. */
  readGames(name: string, file: Uint8Array): void {
    this.exports.read_games(...this.give(name), ...this.give(file));
  }

  /** Copies into the module's memory. */
  private give(content: string | Uint8Array): [number, number] {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const at = this.exports.allocate(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at >>> 0, bytes.length).set(bytes);
    return [at, bytes.length];
  }
}
