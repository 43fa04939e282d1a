/** Text from elsewhere on its way into what we keep. */

/**
 * `text` as one that Postgres, a timeline and a terminal can take: at most `max` long, without
 * control characters and without halves of surrogate pairs, also where the cut would have left one.
 */
export function storable(text: string, max: number): string {
  return text
    .slice(0, max)
    .replace(/[\p{Cc}\p{Surrogate}]+/gu, ' ')
    .trim();
}
