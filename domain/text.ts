/** Makes text from other parties safe to store. */

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
