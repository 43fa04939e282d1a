/** Faults that tests can set; the same seed gives the same faults in the same order. */
import { z } from 'zod';
import { EXECUTOR_PHASES } from '../../../domain/executor.ts';
import { createFaultBox, milliseconds, rate, remaining, type FaultBox } from '../kit/faults.ts';
import { TRANSFER_OUTCOMES } from './events.ts';
import { read } from './read.ts';

/** The calls of transfers between accounts. Faults affect them only when `phases` names them. */
export const TRANSFER_PHASES = ['transfer_submit', 'transfer_find'] as const;
type FaultyPhase = (typeof EXECUTOR_PHASES)[number] | (typeof TRANSFER_PHASES)[number];

export const faultsSchema = z.strictObject({
  /** Delay before each call does anything, in milliseconds. */
  latency_ms: milliseconds,
  /** Share of calls that return 500 and do nothing. */
  error_rate: rate,
  /** Share of calls that are executed and then lose their connection before the response. */
  lose_answer_rate: rate,
  /**
   * Milliseconds that a submit (order or transfer) waits before the venue reads it. The submit
   * continues even if the caller has disconnected.
   */
  hold_ms: milliseconds,
  /**
   * Milliseconds before an accepted order is signed; until then it can be cancelled. A transfer
   * stays pending for the same time.
   */
  processing_ms: milliseconds,
  /**
   * How accepted transfers end: after `processing_ms`, or, with `pending`, when the test bench
   * settles them.
   */
  transfer_outcome: z.enum(TRANSFER_OUTCOMES).default('completed'),
  /**
   * false: the venue forgets idempotency keys, and every submit is a new order. Applies to all
   * phases of the protocol when `phases` names one of them; likewise to transfers and their
   * references.
   */
  deduplicate: z.boolean().default(true),
  phases: z
    .array(z.enum([...EXECUTOR_PHASES, ...TRANSFER_PHASES]))
    .min(1)
    .default([...EXECUTOR_PHASES]),
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Number of calls of these phases that the faults still affect; null: until they are removed. */
  remaining,
});
export type Faults = z.infer<typeof faultsSchema>;

/** The faults that affect one call. */
export interface Misfortune {
  readonly latency_ms: number;
  readonly hold_ms: number;
  readonly processing_ms: number;
  readonly transfer_outcome: Faults['transfer_outcome'];
  readonly fails: boolean;
  readonly losesAnswer: boolean;
  readonly deduplicate: boolean;
}

/** Number of calls since the venue's start, and of those affected by faults. */
export interface FaultCounts {
  readonly calls: number;
  readonly failed: number;
  readonly answers_lost: number;
}

/**
 * A fault box with random faults. `set` and `clear` also restart the random sequence from the seed.
 */
export interface FaultInjector extends FaultBox<Faults> {
  counts(): FaultCounts;
  draw(phase: FaultyPhase): Misfortune;
}

/** Creates an injector without faults. */
export function createFaultInjector(): FaultInjector {
  const box = createFaultBox(faultsSchema, read<Faults>);
  const seeded = (faults: Faults): Faults => {
    random = randomOf(faults.seed);
    return faults;
  };
  let random = randomOf(box.current().seed);
  let counts: FaultCounts = { calls: 0, failed: 0, answers_lost: 0 };
  const clear = (): Faults => seeded(box.clear());
  return {
    current: box.current,
    counts: () => counts,
    set: (wish) => seeded(box.set(wish)),
    clear,
    draw: (phase) => {
      const active = box.current();
      counts = { ...counts, calls: counts.calls + 1 };
      const deduplicate =
        active.deduplicate || !active.phases.some((one) => isTransfer(one) === isTransfer(phase));
      if (!active.phases.includes(phase)) return { ...NONE, deduplicate };
      // Always draws two numbers for each call, so that one rate does not shift the sequence of the
      // other.
      const fails = random() < active.error_rate;
      const losesAnswer = random() < active.lose_answer_rate;
      // A failed call does nothing, so it has no response to lose.
      counts = {
        ...counts,
        failed: counts.failed + Number(fails),
        answers_lost: counts.answers_lost + Number(losesAnswer && !fails),
      };
      if (active.remaining === 1) clear();
      else if (active.remaining !== null) box.set({ ...active, remaining: active.remaining - 1 });
      const { latency_ms, processing_ms, transfer_outcome } = active;
      return {
        latency_ms,
        hold_ms: phase === 'submit' || phase === 'transfer_submit' ? active.hold_ms : 0,
        processing_ms,
        transfer_outcome,
        fails,
        losesAnswer,
        deduplicate,
      };
    },
  };
}

const NONE = {
  latency_ms: 0,
  hold_ms: 0,
  processing_ms: 0,
  transfer_outcome: 'completed',
  fails: false,
  losesAnswer: false,
} as const;

function isTransfer(phase: FaultyPhase): boolean {
  return TRANSFER_PHASES.some((one) => one === phase);
}

/** Returns a generator (mulberry32) of numbers in [0, 1) that depend only on the seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
