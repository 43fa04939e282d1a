/** How long phases take, by what they are and what came of them. */
import { Histogram } from 'prom-client';
import type { Phase, PhaseResult } from '../domain/messages.ts';
import type { PhaseRow } from '../store/phases.ts';
import { delayOf } from './failures.ts';
import type { PhaseDependencies } from './phases/context.ts';

const durations = new Histogram({
  name: 'svc_phase_duration_seconds',
  help: 'Time from the beginning of a phase that asked its executor to the record of the answer.',
  labelNames: ['phase', 'executor_kind', 'outcome'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
});

/**
 * `done`: the phase is over and the node goes on or is COMPLETED; `failed`: the node is FAILED;
 * `unknown`: it is UNKNOWN; `not_yet`: it looks again later; `recover`: no usable answer; `error`:
 * repeated because of an error.
 */
export type PhaseOutcome = 'done' | 'failed' | 'unknown' | 'not_yet' | 'recover' | 'error';

/**
 * Runs what is left of a phase and records it, whatever becomes of it. `started` is of the
 * monotonic clock.
 */
export async function measured<T extends PhaseResult>(
  deps: PhaseDependencies,
  phase: Phase,
  asked: { readonly row: PhaseRow; readonly started: number },
  work: () => Promise<T>,
): Promise<T> {
  const record = (outcome: PhaseOutcome): void => {
    const kind =
      deps.executors.describe(asked.row.node.executor_binding.executor_key)?.kind ?? 'unregistered';
    durations.observe(
      { phase, executor_kind: kind, outcome },
      (performance.now() - asked.started) / 1_000,
    );
  };
  try {
    const result = await work();
    record(outcomeOf(result));
    return result;
  } catch (error) {
    record(delayOf(error) === null ? 'error' : notYet(error) ? 'not_yet' : 'error');
    throw error;
  }
}

function outcomeOf({ next, state }: PhaseResult): PhaseOutcome {
  if (next === 'recover') return 'recover';
  if (next === 'again' || next === 'wait') return 'not_yet';
  if (state === 'FAILED') return 'failed';
  return state === 'UNKNOWN' ? 'unknown' : 'done';
}

function notYet(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'type' in error && error.type === 'NOT_YET';
}

/** When this process asked what a team's worker answers; a node has one phase at a time. */
const asking = new Map<string, number>();
/** Answers that another process records leave their beginning behind; the oldest go first. */
const MOST_ASKING = 10_000;

/** Remembers when the first half of a team's phase began. */
export function noteAsking(key: string, started: number): void {
  asking.delete(key);
  asking.set(key, started);
  const [oldest] = asking.keys();
  if (asking.size > MOST_ASKING && oldest !== undefined) asking.delete(oldest);
}

/** When it began, or null when that was in another process. */
export function takeAsking(key: string): number | null {
  const started = asking.get(key) ?? null;
  asking.delete(key);
  return started;
}
