/**
 * What befalls a world: drawn by its seed, counted, and left out one by one where a run is shrunk.
 */
import type { Machine } from './machine/machine.ts';

/** A fault that struck. Its number names it in every run of the same seed until runs differ. */
export interface Struck {
  readonly number: number;
  readonly kind: string;
  readonly fault: string;
  /** Milliseconds since the world began. */
  readonly at: number;
}

export class Faults {
  readonly struck: Struck[] = [];
  /** No fault strikes: before the world is set up, and after the storm. */
  isCalm = true;
  readonly #machine: Machine;
  readonly #only: ReadonlySet<number> | null;
  #drawn = 0;

  /** `only`: the numbers of the faults that may strike; null: all. */
  constructor(machine: Machine, only: ReadonlySet<number> | null = null) {
    this.#machine = machine;
    this.#only = only;
  }

  /** Draws one of the faults by their probabilities; null when none strikes. */
  strike<F extends string>(kind: string, probabilities: Readonly<Record<F, number>>): F | null {
    if (this.isCalm) return null;
    for (const fault of Object.keys(probabilities) as F[])
      if (this.#machine.dice.chance(probabilities[fault])) return this.#note(kind, fault);
    return null;
  }

  /** How often each fault struck. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { kind, fault } of this.struck)
      counts[`${kind} ${fault}`] = (counts[`${kind} ${fault}`] ?? 0) + 1;
    return counts;
  }

  #note<F extends string>(kind: string, fault: F): F | null {
    this.#drawn += 1;
    const number = this.#drawn;
    if (this.#only?.has(number) === false) return null;
    this.struck.push({ number, kind, fault, at: this.#machine.now - this.#machine.begin });
    this.#machine.log(`  fault ${String(number)}: ${kind} ${fault}`);
    return fault;
  }
}
