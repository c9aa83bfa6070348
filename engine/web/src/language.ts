// The language of the page. A change loads the page again.

import { german } from './german.js';
import { kept } from './storage.js';
import { english, type Texts } from './texts.js';

export const LANGUAGES: Record<string, Texts> = { en: english, de: german };

/** The language that is wished for, or else the first one of a person's that the page has. */
export function languageOf(wished: string | null, preferred: readonly string[]): string {
  const known = [wished ?? '', ...preferred].map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  return known.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';
}

/** Without a page, as in the unit tests, the language is English. */
export const language = languageOf(kept<string>('language'), typeof document === 'undefined' ? [] : navigator.languages);

export const texts: Texts = LANGUAGES[language] ?? english;
