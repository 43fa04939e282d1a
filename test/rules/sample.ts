/**
 * Which rules CI proves at a commit: a fiftieth of them, drawn by the commit's own hash. Counting
 * commits instead would let a landing of many commits pass the same rules by again and again.
 */
import { createHash } from 'node:crypto';

/** One in so many. */
export const SAMPLES = 50;

/**
 * The same rules whenever the same `commit` is judged, and each rule with the same chance, whatever
 * stands before or behind it in the list. `commit`: a hash, or any other text.
 */
export function sampleOf<Rule extends { readonly id: string }>(
  rules: readonly Rule[],
  commit: string,
): Rule[] {
  const drawn = rules
    .map((rule) => ({ rule, place: sha256(`${commit} ${rule.id}`) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .slice(0, Math.ceil(rules.length / SAMPLES))
    .map(({ rule }) => rule);
  return rules.filter((rule) => drawn.includes(rule));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
