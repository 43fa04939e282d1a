/**
 * Makes hidden characters in untrusted text visible, so that they cannot change how the rest of the
 * page is read.
 */
import { HIDDEN } from '../../domain/text.ts';

export interface Piece {
  readonly text: string;
  /**
   * Whether `text` is the code point of a character that is invisible or changes the writing
   * direction.
   */
  readonly hidden: boolean;
}

/** Returns the pieces of a text: hidden characters as `U+202E`; line breaks and tabs unchanged. */
export function visiblePieces(text: string): readonly Piece[] {
  const pieces: { text: string; hidden: boolean }[] = [];
  for (const character of text) {
    const hidden = HIDDEN.test(character) && character !== '\n' && character !== '\t';
    const last = pieces.at(-1);
    const shown = hidden ? codeOf(character) : character;
    if (!hidden && last !== undefined && !last.hidden) last.text += shown;
    else pieces.push({ text: shown, hidden });
  }
  return pieces;
}

/** Returns the pieces as one text, for places without markup such as a title. */
export function visibleText(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join('');
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
