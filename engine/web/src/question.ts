// Questions in a dialog.

import type { Color, Role } from 'chessops/types';
import { button, byId, element } from './dom.js';
import { texts } from './language.js';

const ROLES: Role[] = ['queen', 'knight', 'rook', 'bishop'];
const FIGURES: Record<Color, string[]> = { white: ['♕', '♘', '♖', '♗'], black: ['♛', '♞', '♜', '♝'] };

/** The chosen answer, or none if the question is closed. */
function ask<T>(title: string, answers: { label: string; value: T; attributes: Record<string, string> }[]): Promise<T | null> {
  const dialog = byId<HTMLDialogElement>('question');
  return new Promise((resolve) => {
    let chosen: T | null = null;
    const buttons = answers.map(({ label, value, attributes }) =>
      button(
        label,
        () => {
          chosen = value;
          dialog.close();
        },
        attributes,
      ),
    );
    dialog.replaceChildren(element('h2', { id: 'question-title' }, title), element('div', { class: 'row' }, ...buttons));
    dialog.addEventListener('close', () => resolve(chosen), { once: true });
    dialog.showModal();
  });
}

/** Which piece a pawn becomes. */
export function askPromotion(color: Color): Promise<Role | null> {
  const answers = ROLES.map((value, at) => ({
    label: FIGURES[color][at] ?? '',
    value,
    attributes: { class: 'figure', 'aria-label': texts.pieces[value] },
  }));
  return ask(texts.promotion, answers);
}

/** Whether to go on with `action`. */
export async function confirmed(question: string, action: string): Promise<boolean> {
  const answers = [
    { label: action, value: true, attributes: { class: 'primary', id: 'yes' } },
    { label: texts.cancel, value: false, attributes: { id: 'no' } },
  ];
  return (await ask(question, answers)) === true;
}
