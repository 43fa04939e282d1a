/** Makes text from other parties safe to store, and finds what is not seen in a text. */

/**
 * Returns `text` in a form that Postgres, a timeline and a terminal accept: at most `max` long,
 * without control characters and without halves of surrogate pairs, also at the cut.
 */
export function storable(text: string, max: number): string {
  return text
    .slice(0, max)
    .replace(/[\p{Cc}\p{Surrogate}]+/gu, ' ')
    .trim();
}

/**
 * Characters without a visible form: controls, direction marks, zero widths, fillers, tags,
 * variation selectors, lone surrogates.
 */
export const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;

/** Returns why a text can look like another one for something that is not seen, or null. */
export function unseenFault(text: string): string | null {
  if (HIDDEN.test(text)) return 'must not hold characters that cannot be seen';
  return text === text.trim() ? null : 'must not begin or end with a blank';
}

/**
 * Returns why a reference, which is compared character by character, can look like another one, or
 * null. It is refused rather than changed: what is stored is what the caller's books say.
 */
export function referenceFault(text: string): string | null {
  const fault = unseenFault(text);
  if (fault !== null) return fault;
  if (/(?! )\p{Zs}| {2}/u.test(text)) return 'must not hold blanks other than single spaces';
  return text === text.normalize('NFC') ? null : 'must be in the Unicode normal form NFC';
}
