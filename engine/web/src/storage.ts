// Keeps things in the browser: each tab has its own, and a new tab begins with those that were kept
// last. A browser that keeps nothing is no error.

export function keep(name: string, value: unknown): void {
  try {
    for (const storage of [sessionStorage, localStorage]) storage.setItem(`azimuth.${name}`, JSON.stringify(value));
  } catch {
    // The storage is full or forbidden.
  }
}

export function kept<T>(name: string): T | null {
  try {
    const text = sessionStorage.getItem(`azimuth.${name}`) ?? localStorage.getItem(`azimuth.${name}`);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}
