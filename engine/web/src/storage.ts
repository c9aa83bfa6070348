// Keeps things in the browser. A browser that keeps nothing is no error.

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(`azimuth.${name}`, JSON.stringify(value));
  } catch {
    // The storage is full or forbidden.
  }
}

export function kept<T>(name: string): T | null {
  try {
    const text = localStorage.getItem(`azimuth.${name}`);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

export function forget(name: string): void {
  try {
    localStorage.removeItem(`azimuth.${name}`);
  } catch {
    // There is nothing to forget.
  }
}
