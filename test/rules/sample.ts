/**
 * Which rules CI proves at a commit: a tenth of them, another with each commit, so that ten commits
 * prove all.
 */
export const SAMPLES = 10;

/** `commits`: how many commits lead to the one that is judged. */
export function sampleOf<Rule>(rules: readonly Rule[], commits: number): Rule[] {
  return rules.filter((_, index) => index % SAMPLES === commits % SAMPLES);
}
