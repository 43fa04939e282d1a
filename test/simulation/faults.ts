/**
 * What befalls a world: drawn by its seed, counted where it changes the run, and left out one by
 * one where a run is shrunk.
 */
import type { Moved } from './machine/database.ts';
import type { Machine, Process } from './machine/machine.ts';

/** A fault that struck. Its number names it in every run of the same seed until runs differ. */
export interface Struck {
  readonly number: number;
  readonly kind: string;
  readonly fault: string;
  /** Milliseconds since the world began. */
  readonly at: number;
  /** Whether a movement that it strikes is between its fence and the outcome of that send. */
  isBetween: boolean;
  /** Whether the run would have been another one without it. */
  counts: boolean;
}

/** A fault that strikes now. */
export interface Strike<F extends string> {
  readonly fault: F;
  /** To be called where it changes the run, with the movements whose course it changes. */
  readonly counts: (movements?: readonly string[]) => void;
}

/**
 * By how much a fault is likelier at a step of a movement between its fence and the outcome of its
 * send, and at any other step: what matters most is what happens there.
 */
export interface Weights {
  readonly between: number;
  readonly elsewhere: number;
}

/** States of a node between its fence and the outcome of its send. */
const IN_FLIGHT: readonly string[] = ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'];

/** Where each movement is, as its committed rows say. */
export class Fences {
  /** Of each movement that has passed a fence, the nodes without an outcome. */
  readonly #open = new Map<string, Set<string>>();

  moved({ movement_id, node_key, state }: Moved): void {
    const nodes = this.#open.get(movement_id);
    if (state === 'SUBMITTING') {
      if (nodes === undefined) this.#open.set(movement_id, new Set([node_key]));
      else nodes.add(node_key);
    } else if (!IN_FLIGHT.includes(state)) nodes?.delete(node_key);
  }

  hasPassed(movementId: string): boolean {
    return this.#open.has(movementId);
  }

  isBetween(movementId: string): boolean {
    return (this.#open.get(movementId)?.size ?? 0) > 0;
  }
}

export class Faults {
  readonly struck: Struck[] = [];
  readonly fences = new Fences();
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

  /** Draws one of the faults at a step of these movements; null when none strikes. */
  strike<F extends string>(
    kind: string,
    probabilities: Readonly<Record<F, number>>,
    { between, elsewhere }: Weights = { between: 1, elsewhere: 1 },
    movements: readonly string[] = this.movementsOfStep(),
  ): Strike<F> | null {
    if (this.isCalm) return null;
    const isBetween = this.#isBetween(movements);
    const weight = isBetween ? between : elsewhere;
    for (const fault of Object.keys(probabilities) as F[])
      if (this.#machine.dice.chance(weight * probabilities[fault]))
        return this.#note(kind, fault, isBetween);
    return null;
  }

  /** The movement that the step under way is for. */
  movementsOfStep(): readonly string[] {
    const id = this.#machine.current?.movement_id ?? null;
    return id === null ? [] : [id];
  }

  /** The movements that a process works for. */
  movementsOf(process: Process): readonly string[] {
    const isItsStep = this.#machine.current?.process === process;
    return [...(isItsStep ? this.movementsOfStep() : []), ...this.#machine.workOf(process)];
  }

  /** How often each fault struck and changed the run. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { kind, fault, counts: isCounted } of this.struck)
      if (isCounted) counts[`${kind} ${fault}`] = (counts[`${kind} ${fault}`] ?? 0) + 1;
    return counts;
  }

  #isBetween(movements: readonly string[]): boolean {
    return movements.some((each) => this.fences.isBetween(each));
  }

  #note<F extends string>(kind: string, fault: F, isBetween: boolean): Strike<F> | null {
    this.#drawn += 1;
    const number = this.#drawn;
    if (this.#only?.has(number) === false) return null;
    const at = this.#machine.now - this.#machine.begin;
    const struck: Struck = { number, kind, fault, at, isBetween, counts: false };
    this.struck.push(struck);
    this.#machine.log(`  fault ${String(number)}: ${kind} ${fault}`);
    const counts = (movements: readonly string[] = []): void => {
      struck.counts = true;
      struck.isBetween ||= this.#isBetween(movements);
    };
    return { fault, counts };
  }
}
