// Writes the list of openings that src/opening.ts reads, from the files a.tsv to e.tsv of
// https://github.com/lichess-org/chess-openings. Arguments: their folder, and the name of their version.

import { readFileSync } from 'node:fs';
import { keyOf } from '../src/opening.js';
import { newGame } from '../src/tree.js';

const [folder, version] = process.argv.slice(2);
const families = new Map<string, string[]>();
const seen = new Map<string, string>();
for (const letter of 'abcde') {
  const [, ...lines] = readFileSync(`${folder}/${letter}.tsv`, 'utf8').trimEnd().split('\n');
  for (const line of lines) {
    const [eco, name, pgn] = line.split('\t');
    if (!eco || !name || !pgn) throw new Error(`${letter}.tsv: ${line}`);
    let last = newGame();
    for (const san of pgn.replace(/\d+\./g, '').trim().split(/\s+/)) {
      const next = last.playText(san);
      if (!next) throw new Error(`${letter}.tsv: ${line}: ${san} is not legal`);
      last = next;
    }
    const key = keyOf(last.position);
    const known = seen.get(key);
    if (known) throw new Error(`${letter}.tsv: ${line}: the key of ${known}`);
    seen.set(key, name);
    const [family = '', ...variation] = name.split(': ');
    const entries = families.get(family) ?? [];
    families.set(family, [...entries, `${key} ${eco} ${variation.join(': ')}`.trimEnd()]);
  }
}
const byName = [...families].sort(([one], [other]) => (one < other ? -1 : 1));
const text = byName.map(([family, entries]) => [`=${family}`, ...entries].join('\n')).join('\n');
process.stdout.write(`# https://github.com/lichess-org/chess-openings ${version}, CC0 1.0\n${text}\n`);
