/** What a run has met, and what it has not: moves of states, faults, error codes. */
import { MOVEMENT_TABLE } from '../../domain/states/movement.ts';
import { NODE_TABLE } from '../../domain/states/node.ts';
import type { WorldReport } from './report.ts';

/** Every move that the tables of states allow. */
const MOVES: readonly string[] = [
  ...Object.entries(MOVEMENT_TABLE.moves).flatMap(([from, targets]) =>
    targets.map((to) => `movement ${from} to ${to}`),
  ),
  ...Object.entries(NODE_TABLE.moves).flatMap(([from, targets]) =>
    targets.map((to) => `node ${from} to ${to}`),
  ),
];

export class Coverage {
  readonly #seen = new Map<string, number>();
  /** Faults that changed their run. */
  counted = 0;
  /** Of these, those that struck between a fence and the outcome of its send. */
  #between = 0;
  #endedBeforeFence = 0;

  add({
    counts,
    seen,
    faults,
    endedBeforeFence,
  }: Pick<WorldReport, 'counts' | 'seen' | 'faults' | 'endedBeforeFence'>): void {
    const counted = faults.filter((each) => each.counts);
    this.counted += counted.length;
    this.#between += counted.filter(({ isBetween }) => isBetween).length;
    this.#endedBeforeFence += endedBeforeFence;
    for (const [name, count] of Object.entries(seen)) this.#count(name, count);
    for (const [name, count] of Object.entries(counts)) this.#count(`fault ${name}`, count);
  }

  /** Moves that were never made, and everything that was met, with how often. */
  report(movements: number): string {
    const share = (part: number, of: number): string => `${(100 * (part / of)).toFixed(0)}%`;
    const missing = MOVES.filter((move) => !this.#seen.has(move));
    const met = [...this.#seen].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      ...met.map(([name, count]) => `  ${name}: ${String(count)}`),
      `${String(MOVES.length - missing.length)} of ${String(MOVES.length)} moves of states were made. Not made: ${missing.join(', ') || 'none'}.`,
      `${(this.counted / movements).toFixed(1)} counted faults a movement, ${share(this.#between, this.counted)} between a fence and its outcome; ${share(this.#endedBeforeFence, movements)} of the movements ended before a fence.`,
    ].join('\n');
  }

  #count(name: string, count: number): void {
    this.#seen.set(name, (this.#seen.get(name) ?? 0) + count);
  }
}
