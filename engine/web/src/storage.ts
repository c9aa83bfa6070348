// Keeps things in the browser: each tab has its own, and a new tab begins with those that were kept
// last. A browser that keeps nothing is no error.

const PREFIX = 'azimuth.';

/** Present in a tab that has begun. */
const BEGUN = `${PREFIX}begun`;

/** Keeps a value, for this tab alone if `here`. */
export function keep(name: string, value: unknown, here = false): void {
  const [key, text] = [PREFIX + name, JSON.stringify(value)];
  try {
    begin();
    if (sessionStorage.getItem(key) === text) return;
    for (const storage of here ? [sessionStorage] : [sessionStorage, localStorage]) storage.setItem(key, text);
  } catch {
    // The storage is full or forbidden.
  }
}

export function kept<T>(name: string): T | null {
  try {
    begin();
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

/** Gives a new tab the things that were kept last. */
function begin(): void {
  if (sessionStorage.getItem(BEGUN) !== null) return;
  sessionStorage.setItem(BEGUN, '');
  for (const [key, text] of Object.entries<string>(localStorage)) {
    if (key.startsWith(PREFIX)) sessionStorage.setItem(key, text);
  }
}
