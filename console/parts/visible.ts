/** What others wrote, made visible: nothing in it changes how the rest of the page reads. */

export interface Piece {
  readonly text: string;
  /** A character that shows nothing or turns others around, by its code point. */
  readonly hidden: boolean;
}

/**
 * Controls, marks of direction, zero widths, fillers, tags, variation selectors, lone surrogates:
 * what has no picture of its own.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;

/** The pieces of a text; hidden characters as `U+202E`, line breaks and tabs as they are. */
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

/** The same as one text, for places without markup such as a title. */
export function visibleText(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join('');
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
