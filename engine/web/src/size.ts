// The threads and the hash of an analysis, which a person chooses up to the server's limit.

import { element, labelled } from './dom.js';
import { keep, kept } from './storage.js';

/** The least size and its doubles below the limit, and the limit. */
export function sizesUpTo(limit: number, least: number): number[] {
  const sizes = [];
  for (let size = least; size < limit; size *= 2) sizes.push(size);
  return [...sizes, limit];
}

/** The largest of the sizes that is at most the wanted one, or else the least. */
export function nearest(sizes: number[], wanted: number): number | undefined {
  return sizes.filter((size) => size <= wanted).at(-1) ?? sizes[0];
}

export class SizeChoice {
  readonly element: HTMLElement;
  /** The size that was chosen; the server's usual one without it. */
  chosen: number | null;
  private readonly select: HTMLSelectElement;

  constructor(
    name: 'threads' | 'hash',
    label: string,
    private readonly least: number,
    onChoice: () => void,
  ) {
    this.chosen = kept<number>(name);
    this.select = element('select', { id: name });
    this.select.addEventListener('change', () => {
      this.chosen = Number(this.select.value);
      keep(name, this.chosen);
      onChoice();
    });
    this.element = labelled(label, this.select);
    this.element.hidden = true;
  }

  /** Offers the sizes up to the server's limit. */
  offer([usual, limit]: [number, number]): void {
    const sizes = sizesUpTo(limit, this.least);
    this.select.replaceChildren(...sizes.map((size) => element('option', { value: size }, String(size))));
    this.select.value = String(nearest(sizes, this.chosen ?? usual));
    this.element.hidden = sizes.length < 2;
  }
}
