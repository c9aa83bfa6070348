// Runs a command of UCI in the engine in WebAssembly, and prints its lines.
//
//   node run.mjs MODULE BEAM-WEIGHTS SELECTIVE-WEIGHTS COMMAND

import { readFileSync } from 'node:fs';
import { argv } from 'node:process';

const [path, beam, selective, command] = argv.slice(2);
const bytes = (at, length) => new Uint8Array(engine.memory.buffer, at >>> 0, length);
const say = (at, length) => console.log(new TextDecoder().decode(bytes(at, length)));
const env = {
  send: say,
  print: say,
  stopped: () => 0,
  now: () => performance.now(),
  random: (at, length) => crypto.getRandomValues(bytes(at, length)),
};
const { instance } = await WebAssembly.instantiate(readFileSync(path), { env });
const engine = instance.exports;

/** Copies into the module's memory. */
function give(content) {
  const at = engine.allocate(content.length);
  bytes(at, content.length).set(content);
  return [at, content.length];
}

for (const [which, weights] of [beam, selective].entries()) {
  if (engine.set_weights(which, ...give(readFileSync(weights))) !== 0) throw new Error(weights);
}
engine.run_command(...give(new TextEncoder().encode(command)));
