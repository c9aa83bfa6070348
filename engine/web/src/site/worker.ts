// The worker that runs the engine. It is busy until a task ends, so no message can stop it: it looks
// whether the page has revoked the address of the task instead.

import { Azimuth } from './module.js';

/** To the worker. */
export type Order =
  | { type: 'start'; module: WebAssembly.Module; weights: Uint8Array[] }
  | { type: 'task'; message: string; address: string }
  | { type: 'games'; module: WebAssembly.Module; name: string; file: Uint8Array };

/** From the worker. `idle` ends an order. */
export type Answer = { type: 'sent'; message: string } | { type: 'idle' } | { type: 'failed'; message: string };

/** The longest time between two looks, in milliseconds. The module asks at most every 30 ms. */
const LONGEST_PAUSE = 200;

/** The time between two looks, as a multiple of the time that one takes: they take 4% of the time. */
const PAUSE_PER_LOOK = 25;

let engine: Azimuth | null = null;

/** The address of the running task. */
let address = '';
let isStopped = false;
let nextLook = 0;

const answer = (message: Answer) => postMessage(message);
const send = (message: string) => answer({ type: 'sent', message });

function stopped(): boolean {
  const before = performance.now();
  if (isStopped || before < nextLook) return isStopped;
  const request = new XMLHttpRequest();
  try {
    request.open('GET', address, false);
    request.send();
    isStopped = request.status !== 200;
  } catch {
    isStopped = true;
  }
  const now = performance.now();
  nextLook = now + Math.min(LONGEST_PAUSE, PAUSE_PER_LOOK * (now - before));
  return isStopped;
}

async function perform(order: Order): Promise<void> {
  if (order.type === 'start') {
    const begun = await Azimuth.begin(order.module, { send, stopped });
    order.weights.forEach((weights, which) => begun.setWeights(which, weights));
    begun.start();
    engine = begun;
  } else if (order.type === 'task') {
    ({ address } = order);
    isStopped = false;
    // A task that was stopped before it began ends at once.
    nextLook = 0;
    engine?.receive(order.message);
  } else {
    const reader = await Azimuth.begin(order.module, { send, stopped: () => false });
    reader.readGames(order.name, order.file);
  }
}

addEventListener('message', ({ data }: MessageEvent<Order>) => {
  perform(data).then(
    () => answer({ type: 'idle' }),
    (error: unknown) => answer({ type: 'failed', message: String(error) }),
  );
});
