/** Metric of the duration of phases, by phase and outcome. */
import { Histogram } from 'prom-client';
import type { Phase, PhaseResult } from '../domain/messages.ts';
import type { PhaseRow } from '../store/phases.ts';
import { delayOf } from './failures.ts';
import type { PhaseDependencies } from './phases/context.ts';

const durations = new Histogram({
  name: 'svc_phase_duration_seconds',
  help: 'Time from the start of a phase that called its executor until the answer was recorded.',
  labelNames: ['phase', 'executor_kind', 'outcome'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
});

/**
 * Outcome of a phase. `done`: the node continues or is COMPLETED; `failed`: the node is FAILED;
 * `unknown`: the node is UNKNOWN; `not_yet`: the phase looks again later; `recover`: the executor
 * returned no usable answer; `error`: the phase is repeated because of an error.
 */
export type PhaseOutcome = 'done' | 'failed' | 'unknown' | 'not_yet' | 'recover' | 'error';

/** Runs `work`, the rest of a phase, and records the time since `started` (monotonic clock). */
export async function measured<T extends PhaseResult>(
  deps: PhaseDependencies,
  phase: Phase,
  timed: { readonly row: PhaseRow; readonly started: number },
  work: () => Promise<T>,
): Promise<T> {
  const record = (outcome: PhaseOutcome): void => {
    const kind =
      deps.executors.describe(timed.row.node.executor_binding.executor_key)?.kind ?? 'unregistered';
    durations.observe(
      { phase, executor_kind: kind, outcome },
      (performance.now() - timed.started) / 1_000,
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

/**
 * Start times of phases whose executor is a team's worker, by the key that {@link notePhaseStart}
 * gets; milliseconds of the monotonic clock.
 */
const phaseStarts = new Map<string, number>();
/**
 * Maximum number of start times kept; the oldest are dropped. A start time stays unused when
 * another process records the answer.
 */
const MOST_STARTS = 10_000;

/** Remembers when a phase of a team's worker started; {@link takePhaseStart} reads it. */
export function notePhaseStart(key: string, started: number): void {
  phaseStarts.delete(key);
  phaseStarts.set(key, started);
  const [oldest] = phaseStarts.keys();
  if (phaseStarts.size > MOST_STARTS && oldest !== undefined) phaseStarts.delete(oldest);
}

/** Returns and removes the start time of a phase; null when it started in another process. */
export function takePhaseStart(key: string): number | null {
  const started = phaseStarts.get(key) ?? null;
  phaseStarts.delete(key);
  return started;
}
