/**
 * Cleans text of other people before a model reads it: one line of limited length, without
 * invisible characters. Invisible text, or text in another direction, could give the model
 * instructions that the person who watches does not see.
 */

/** Control, format, private and unassigned characters, lone surrogates, and line separators. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

/** Returns the visible characters of a text, with single spaces, cut to `most` characters. */
export function plain(text: string, most: number): string {
  const seen = text.replace(/[\t\n\r\f\v\u0085\u2028\u2029]+/g, ' ').replace(UNSEEN, '');
  const characters = [...seen.replace(/\p{Zs}+/gu, ' ').trim()];
  return characters.length <= most
    ? characters.join('')
    : `${characters.slice(0, most - 1).join('')}…`;
}

/**
 * Returns a name to put into a sentence of this program: `text` when it is one word, else
 * `otherwise`. A name of several words could be read as part of the sentence.
 */
export function nameOr(text: string | null | undefined, otherwise: string): string {
  return text != null && /^[!-~]{1,256}$/.test(text) ? text : otherwise;
}
