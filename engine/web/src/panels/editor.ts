// The editor: sets up any position on the board.

import { EMPTY_FEN, INITIAL_FEN, makeBoardFen } from 'chessops/fen';
import { COLORS, ROLES, type Color, type Piece, type Square } from 'chessops/types';
import { charToRole, makeSquare, squareFile, squareFromCoords, squareRank } from 'chessops/util';
import type { App } from '../app.js';
import type { Editing, Grab } from '../boardview.js';
import { button, element, labelled } from '../dom.js';
import { texts } from '../language.js';
import { draftOf, faultOf, fenOf, mayCastle, put, RIGHTS, toggle, withPieces, withRight, withTurn, type Draft } from '../setup.js';

/** What a press on a square does: it moves a piece, empties the square, or puts a piece there. */
type Tool = 'hand' | 'eraser' | Piece;

const STEPS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Editor implements Editing {
  readonly element = element('div', { id: 'editor', hidden: true });
  cursor: Square = 0;
  private draft: Draft = readable(INITIAL_FEN);
  private tool: Tool = 'hand';
  private readonly tools: [Tool, HTMLButtonElement][];
  private readonly turn = element('select', { id: 'editor-turn' }, ...COLORS.map((color) => element('option', { value: color }, texts.side[color])));
  private readonly rights = RIGHTS.map((right) => {
    const box = element('input', { type: 'checkbox' });
    box.addEventListener('change', () => this.set(withRight(this.draft, right, box.checked)));
    return { right, box };
  });
  private readonly fen = element('input', { id: 'editor-fen', type: 'text', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'editor-fault' });
  private readonly fault = element('p', { id: 'editor-fault', class: 'note fault', role: 'status' });
  private readonly analyse: HTMLButtonElement;

  constructor(
    private readonly app: App,
    private readonly grab: Grab,
    /** Closes the editor; with a FEN, its position is analysed. */
    private readonly close: (fen: string | null) => void,
  ) {
    const pieces = (color: Color) => [...ROLES].reverse().map((role): Tool => ({ color, role }));
    const tools: Tool[] = ['hand', ...pieces('white'), 'eraser', ...pieces('black')];
    this.tools = tools.map((tool) => [tool, this.toolButton(tool)]);
    this.turn.addEventListener('change', () => this.set(withTurn(this.draft, this.turn.value as Color)));
    this.fen.addEventListener('input', () => this.read());
    this.analyse = button(texts.analysePosition, () => this.close(fenOf(this.draft)), { class: 'primary', id: 'editor-analyse' });
    this.element.append(
      element('div', { id: 'palette', role: 'group', 'aria-label': texts.palette }, ...this.tools.map(([, made]) => made)),
      element(
        'div',
        { class: 'row' },
        button(texts.clearBoard, () => this.set(readable(EMPTY_FEN)), { id: 'editor-clear' }),
        button(texts.anew, () => this.set(readable(INITIAL_FEN)), { id: 'editor-start' }),
        labelled(texts.sideToMove, this.turn),
      ),
      element(
        'fieldset',
        { class: 'row' },
        element('legend', {}, texts.castling),
        ...this.rights.map(({ right: { color, side }, box }) => labelled(texts.right(texts.side[color], side), box)),
      ),
      element('div', { class: 'field' }, labelled(texts.fen, this.fen)),
      this.fault,
      element('div', { class: 'row' }, this.analyse, button(texts.cancel, () => this.close(null), { id: 'editor-cancel' })),
      element('p', { class: 'note' }, texts.editorKeys),
    );
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open(fen: string): void {
    this.element.hidden = false;
    this.cursor = 0;
    this.choose('hand');
    this.set(readable(fen));
    this.tools[0]?.[1].focus();
  }

  hide(): void {
    this.element.hidden = true;
  }

  get pieces(): string {
    return makeBoardFen(this.draft.board);
  }

  moved(pieces: string): void {
    this.set(withPieces(this.draft, pieces));
    this.tell();
  }

  press(square: Square): boolean {
    this.cursor = square;
    if (this.tool === 'hand') return false;
    this.set(this.tool === 'eraser' ? put(this.draft, square, null) : toggle(this.draft, square, this.tool));
    this.tell();
    return true;
  }

  onKey(key: string, orientation: Color): boolean {
    const step = STEPS[key];
    if (step) {
      const sign = orientation === 'white' ? 1 : -1;
      const to = squareFromCoords(squareFile(this.cursor) + sign * step[0], squareRank(this.cursor) + sign * step[1]);
      this.cursor = to ?? this.cursor;
      this.app.redraw();
    } else if (key === 'Delete' || key === 'Backspace') this.set(put(this.draft, this.cursor, null));
    else {
      const role = key.length === 1 ? charToRole(key.toLowerCase()) : undefined;
      if (!role) return false;
      const color = key === key.toUpperCase() ? 'white' : 'black';
      this.set(put(this.draft, this.cursor, { role, color }));
    }
    this.tell();
    return true;
  }

  /** Says what stands on the square of the cursor. */
  private tell(): void {
    const piece = this.draft.board.get(this.cursor);
    const name = piece ? texts.piece(texts.side[piece.color], texts.pieces[piece.role]) : texts.emptySquare;
    this.app.announce(`${makeSquare(this.cursor)}: ${name}`);
  }

  private set(draft: Draft): void {
    this.draft = draft;
    this.fen.value = fenOf(draft);
    this.draw();
  }

  /** Takes over the FEN that is typed. */
  private read(): void {
    const read = draftOf(this.fen.value);
    if (typeof read !== 'string') this.draft = read;
    this.draw(typeof read === 'string' ? read : null);
  }

  private draw(unread: string | null = null): void {
    const { draft } = this;
    this.turn.value = draft.turn;
    for (const { right, box } of this.rights) {
      box.disabled = !mayCastle(draft, right);
      box.checked = !box.disabled && draft.rights.includes(right);
    }
    const fault = unread ?? faultOf(draft);
    this.fault.textContent = fault ?? '\u00a0';
    this.fen.setAttribute('aria-invalid', String(fault !== null));
    this.analyse.disabled = fault !== null;
    this.app.redraw();
  }

  private choose(tool: Tool): void {
    this.tool = tool;
    for (const [one, made] of this.tools) made.setAttribute('aria-pressed', String(one === tool));
  }

  private toolButton(tool: Tool): HTMLButtonElement {
    const isPiece = typeof tool !== 'string';
    const label = isPiece ? texts.piece(texts.side[tool.color], texts.pieces[tool.role]) : texts.tools[tool];
    const made = button(isPiece ? '' : texts.toolSigns[tool], () => this.choose(tool), { 'aria-label': label, title: label });
    if (!isPiece) return made;
    made.className = 'cg-wrap';
    const image = document.createElement('piece');
    image.className = `${tool.color} ${tool.role}`;
    made.append(image);
    const press = (event: MouseEvent | TouchEvent) => {
      if ('button' in event) {
        if (event.button !== 0) return;
        // No text is selected on the way to the board.
        event.preventDefault();
      }
      this.choose('hand');
      // A piece that is not dropped on the board stays in the hand.
      this.grab(tool, event, (dropped) => this.choose(dropped ? 'hand' : tool));
    };
    made.addEventListener('mousedown', press);
    made.addEventListener('touchstart', press, { passive: true });
    return made;
  }
}

/** A draft of a FEN that is known to be one. */
function readable(fen: string): Draft {
  const draft = draftOf(fen);
  if (typeof draft === 'string') throw new Error(draft);
  return draft;
}
