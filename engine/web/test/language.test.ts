import assert from 'node:assert/strict';
import { test } from 'node:test';
import { german } from '../src/german.js';
import { language, LANGUAGES, languageOf } from '../src/language.js';
import { english } from '../src/texts.js';

test('the language is the one that was chosen, or else the first one that the page has', () => {
  assert.equal(languageOf(null, ['fr-FR', 'de-AT', 'en']), 'de');
  assert.equal(languageOf(null, ['en-GB', 'de']), 'en');
  assert.equal(languageOf('en', ['de']), 'en');
  assert.equal(languageOf('xx', ['DE']), 'de');
  assert.equal(languageOf(null, ['fr', 'constructor']), 'en');
  assert.equal(languageOf(null, []), 'en');
  // The other tests read English.
  assert.equal(language, 'en');
});

test('a translation has every text, and no sentence in English', () => {
  let known = english;
  const compare = (one: unknown, other: unknown, name: string) => {
    assert.equal(typeof other, typeof one, name);
    if (typeof one === 'object' && one && other) {
      assert.deepEqual(Object.keys(other), Object.keys(one), name);
      for (const [key, value] of Object.entries(one)) compare(value, Object.entries(other).find(([name]) => name === key)?.[1], `${name}.${key}`);
    } else if (typeof one === 'function') assert.equal((other as () => void).length, one.length, name);
    else if (known !== english && /\p{L}+ \p{L}+/u.test(String(one))) assert.notEqual(other, one, name);
  };
  for (known of Object.values(LANGUAGES)) compare(english, known, known.language);
});

test('one thing is not several', () => {
  assert.equal(english.explorer(1, 1), 'Opening explorer: 1 game');
  assert.equal(german.explorer(1, 1), 'Eröffnungsbuch: 1 Partie');
  assert.equal(german.explorer(2, 2), 'Eröffnungsbuch: 2 Partien');
  assert.match(english.spaceLabel('0', 1), /one legal move leads/);
  assert.match(german.spaceLabel('0', 2), /2 legale Züge führen/);
  assert.equal(german.percent(german.number(12.34, 1)), '12,3\u202f%');
});
