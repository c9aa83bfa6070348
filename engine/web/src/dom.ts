// Builds elements. Text from games only ever becomes text, never markup.

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | undefined>;

function fill(made: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
}

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  fill(made, attributes, children);
  return made;
}

export function shape<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  fill(made, attributes, children);
  return made;
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', onClick);
  return made;
}

/** The element with an id, which is in index.html. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`#${id} is missing`);
  return found as T;
}

/** An element with an id that is made by script. */
export function labelled(text: string, input: HTMLElement): HTMLLabelElement {
  return element('label', {}, element('span', {}, text), input);
}

/** Replaces the children of a box; the focus of the keyboard stays at its place among the buttons. After a
 * click by hand, the keys belong to the game. */
export function renew(box: HTMLElement, children: Node[]): void {
  const buttons = () => [...box.querySelectorAll('button')];
  const place = buttons().findIndex((one) => one.matches(':focus-visible'));
  box.replaceChildren(...children);
  if (place >= 0) buttons()[place]?.focus({ preventScroll: true });
}

export function saveFile(name: string, mime: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: mime }));
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
