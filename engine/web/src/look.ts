// The page's look, sound and language, which its header switches.

import { byId, element } from './dom.js';
import { language, LANGUAGES, texts } from './language.js';
import { keep, kept } from './storage.js';

interface Look {
  /** The colours; without them, those of the system. */
  theme: 'light' | 'dark' | null;
  squares: 'brown' | 'blue';
  sound: boolean;
}

const look: Look = { theme: null, squares: 'brown', sound: true, ...kept<Partial<Look>>('look') };

const SWITCHES: Record<keyof Look, { isOn: () => boolean; turn: () => void }> = {
  theme: {
    isOn: () => (look.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark',
    turn: () => (look.theme = SWITCHES.theme.isOn() ? 'light' : 'dark'),
  },
  squares: { isOn: () => look.squares === 'blue', turn: () => (look.squares = look.squares === 'blue' ? 'brown' : 'blue') },
  sound: { isOn: () => look.sound, turn: () => (look.sound = !look.sound) },
};

/** Makes the switches work. */
export function makeSwitches(): void {
  const { dataset } = document.documentElement;
  const draw = () => {
    if (look.theme) dataset['theme'] = look.theme;
    dataset['squares'] = look.squares;
    for (const [id, { isOn }] of Object.entries(SWITCHES)) byId(id).setAttribute('aria-pressed', String(isOn()));
  };
  for (const [id, { turn }] of Object.entries(SWITCHES)) {
    const made = byId(id);
    made.title = texts.switches[id as keyof Look];
    made.setAttribute('aria-label', made.title);
    made.addEventListener('click', () => {
      turn();
      keep('look', look);
      draw();
    });
  }
  draw();
  makeLanguages();
}

function makeLanguages(): void {
  const choice = byId<HTMLSelectElement>('language');
  const options = Object.entries(LANGUAGES).map(([tag, known]) =>
    element('option', { value: tag, lang: tag, 'aria-label': known.language }, tag.toUpperCase()),
  );
  choice.append(...options);
  choice.value = document.documentElement.lang = language;
  choice.title = texts.languageChoice;
  choice.setAttribute('aria-label', choice.title);
  choice.addEventListener('change', () => {
    keep('language', choice.value);
    location.reload();
  });
}

let audio: AudioContext | null = null;

/** Frequencies in Hz of the notes of a sound. */
const SOUNDS = { move: [440], capture: [330], end: [440, 330] };

/** Seconds between two notes, and until one has faded. */
const NOTE = 0.12;

export function play(sound: keyof typeof SOUNDS): void {
  // Before a click or a key, browsers allow no sound.
  if (!look.sound || !navigator.userActivation.hasBeenActive) return;
  const context = (audio ??= new AudioContext());
  SOUNDS[sound].forEach((frequency, at) => {
    const [note, volume] = [context.createOscillator(), context.createGain()];
    const start = context.currentTime + at * NOTE;
    note.type = 'triangle';
    note.frequency.value = frequency;
    volume.gain.setValueAtTime(0.4, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + NOTE);
    note.connect(volume).connect(context.destination);
    note.start(start);
    note.stop(start + NOTE);
  });
}
