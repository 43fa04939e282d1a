/** Faults on demand, the same ones in the same order for the same seed. */
import { z } from 'zod';
import { EXECUTOR_PHASES } from '../../../domain/executor.ts';
import { createFaultBox, milliseconds, rate, remaining, type FaultBox } from '../kit/faults.ts';
import { TRANSFER_OUTCOMES } from './events.ts';
import { read } from './read.ts';

/** The calls of transfers between accounts. Faults hit them only where they are named. */
export const TRANSFER_PHASES = ['transfer_submit', 'transfer_find'] as const;
type FaultyPhase = (typeof EXECUTOR_PHASES)[number] | (typeof TRANSFER_PHASES)[number];

export const faultsSchema = z.strictObject({
  /** Waits this long before anything else. */
  latency_ms: milliseconds,
  /** Share of calls that answer 500 and do nothing. */
  error_rate: rate,
  /** Share of calls that are executed and then lose their connection instead of answering. */
  lose_answer_rate: rate,
  /**
   * A submit (of either kind) waits this long before the venue looks at it, and goes on even if the
   * caller has gone.
   */
  hold_ms: milliseconds,
  /**
   * An accepted order waits this long before it is signed; until then it can be cancelled. A
   * transfer stays pending so long.
   */
  processing_ms: milliseconds,
  /**
   * How accepted transfers end: after `processing_ms`; `pending` ones when the bench settles them.
   */
  transfer_outcome: z.enum(TRANSFER_OUTCOMES).default('completed'),
  /**
   * false: the venue forgets keys, and every submit is a new order. Holds for all phases of the
   * protocol when one of them is named, and likewise for transfers, whose references are forgotten
   * then.
   */
  deduplicate: z.boolean().default(true),
  phases: z
    .array(z.enum([...EXECUTOR_PHASES, ...TRANSFER_PHASES]))
    .min(1)
    .default([...EXECUTOR_PHASES]),
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** For how many calls of these phases the faults hold; null is until they are removed. */
  remaining,
});
export type Faults = z.infer<typeof faultsSchema>;

/** The faults that one call suffers. */
export interface Misfortune {
  readonly latency_ms: number;
  readonly hold_ms: number;
  readonly processing_ms: number;
  readonly transfer_outcome: Faults['transfer_outcome'];
  readonly fails: boolean;
  readonly losesAnswer: boolean;
  readonly deduplicate: boolean;
}

/** Calls of the venue since its start, and the faults that hit them. */
export interface FaultCounts {
  readonly calls: number;
  readonly failed: number;
  readonly answers_lost: number;
}

/** Setting and clearing also start the sequence of the faults' seed. */
export interface FaultInjector extends FaultBox<Faults> {
  counts(): FaultCounts;
  draw(phase: FaultyPhase): Misfortune;
}

/** An injector without faults. */
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
      // Always two numbers a call, so that one rate does not shift the sequence of the other.
      const fails = random() < active.error_rate;
      const losesAnswer = random() < active.lose_answer_rate;
      // A call that fails does nothing, so it has no answer to lose.
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

/** mulberry32: numbers in [0, 1) that depend on the seed alone. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
