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

  add({ counts, seen }: Pick<WorldReport, 'counts' | 'seen'>): void {
    for (const [name, count] of Object.entries(seen)) this.#count(name, count);
    for (const [name, count] of Object.entries(counts)) this.#count(`fault ${name}`, count);
  }

  /** Moves that were never made, and everything that was met, with how often. */
  report(): string {
    const missing = MOVES.filter((move) => !this.#seen.has(move));
    const met = [...this.#seen].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      ...met.map(([name, count]) => `  ${name}: ${String(count)}`),
      `${String(MOVES.length - missing.length)} of ${String(MOVES.length)} moves of states were made. Not made: ${missing.join(', ') || 'none'}.`,
    ].join('\n');
  }

  #count(name: string, count: number): void {
    this.#seen.set(name, (this.#seen.get(name) ?? 0) + count);
  }
}
