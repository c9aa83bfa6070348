// Asks which piece a pawn becomes.

import type { Color, Role } from 'chessops/types';
import { button, byId, element } from './dom.js';
import { texts } from './texts.js';

const ROLES: Role[] = ['queen', 'knight', 'rook', 'bishop'];
const FIGURES: Record<Color, string[]> = { white: ['♕', '♘', '♖', '♗'], black: ['♛', '♞', '♜', '♝'] };

/** The chosen piece, or none if the question is closed. */
export function askPromotion(color: Color): Promise<Role | null> {
  const dialog = byId<HTMLDialogElement>('promotion');
  return new Promise((resolve) => {
    let chosen: Role | null = null;
    const buttons = ROLES.map((role, at) =>
      button(
        FIGURES[color][at] ?? '',
        () => {
          chosen = role;
          dialog.close();
        },
        { 'aria-label': texts.pieces[role] },
      ),
    );
    dialog.replaceChildren(element('h2', { id: 'promotion-title' }, texts.promotion), element('div', { class: 'row' }, ...buttons));
    dialog.addEventListener('close', () => resolve(chosen), { once: true });
    dialog.showModal();
  });
}
