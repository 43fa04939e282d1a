/**
 * Text of others before a model reads it: one line without what cannot be seen, and no longer than
 * it may be. What hides in a text, or turns its direction, would speak to the model behind the back
 * of the person who looks on.
 */

/** Control and format characters, halves of pairs, what has no meaning yet, and separators. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

/** The visible characters of a text, with single spaces, cut to `most` characters. */
export function plain(text: string, most: number): string {
  const seen = text.replace(/[\t\n\r\f\v\u0085\u2028\u2029]+/g, ' ').replace(UNSEEN, '');
  const characters = [...seen.replace(/\p{Zs}+/gu, ' ').trim()];
  return characters.length <= most
    ? characters.join('')
    : `${characters.slice(0, most - 1).join('')}…`;
}

/**
 * A name in a sentence of ours. What is more than one word there would be read as ours too, so that
 * `otherwise` stands in its place.
 */
export function nameOr(text: string | null | undefined, otherwise: string): string {
  return text != null && /^[!-~]{1,256}$/.test(text) ? text : otherwise;
}
