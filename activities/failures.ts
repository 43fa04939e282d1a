/** The only maker of Temporal failures, and of the pause before a phase is repeated. */
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { RetryPolicy } from '../domain/plan/types.ts';

/**
 * A write that lost against another one: whoever won decides, so this run looks at the database
 * again.
 */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** Attempts that a phase may spend on executor errors before its node gives up. */
export const DEFAULT_MAX_ATTEMPTS = 8;

/** Not an error: the phase looked, and should look again after `seconds`. */
export function lookAgain(message: string, seconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'NOT_YET',
    nextRetryDelay: Math.round(Math.max(0.05, seconds) * 1000),
  });
}

/** An executor error that is repeated; `count` errors have happened, this one included. */
export function tryAgain(code: string, message: string, delaySeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: code,
    nextRetryDelay: Math.round(delaySeconds * 1000),
  });
}

/** How long a failure made here asks to wait, in milliseconds; null for every other error. */
export function delayOf(error: unknown): number | null {
  if (!(error instanceof ApplicationFailure)) return null;
  return typeof error.nextRetryDelay === 'number' ? error.nextRetryDelay : null;
}

/** Errors a phase may have before its node gives up. */
export function maxAttempts(policy: RetryPolicy | undefined): number {
  return policy?.max_attempts ?? DEFAULT_MAX_ATTEMPTS;
}

/** Seconds before attempt `count` + 1: exponential from the policy, capped. */
export function backoffSeconds(policy: RetryPolicy | undefined, count: number): number {
  const first = policy?.initial_interval_seconds ?? 0.5;
  const factor = policy?.backoff_coefficient ?? 2;
  const cap = policy?.max_interval_seconds ?? 30;
  return Math.min(cap, first * factor ** Math.max(0, count - 1));
}

/** Longest pause between two looks that tell nothing. */
const LONGEST_LOOK_PAUSE_SECONDS = 60;

/** Seconds before look `count` + 1, when `count` of them told nothing: a minute at most. */
export function lookPauseSeconds(policy: RetryPolicy | undefined, count: number): number {
  return Math.min(
    LONGEST_LOOK_PAUSE_SECONDS,
    backoffSeconds({ max_interval_seconds: LONGEST_LOOK_PAUSE_SECONDS, ...policy }, count),
  );
}

/** Of what phases and looks at transfers have at hand. */
export interface Unhurried {
  /**
   * How long after an answer it is asked again what became of a send that waits for a person; a
   * minute when left out.
   */
  readonly unhurriedSeconds?: number;
}

/** Seconds between two questions about what a person may decide at any time. */
export function unhurriedSeconds({ unhurriedSeconds: given = 60 }: Unhurried): number {
  return given;
}

/**
 * What Temporal may keep of an unexpected error: its name. A message from elsewhere can hold
 * whatever a query, a key or a venue put into it, and a history outlives every rule about that; it
 * goes to the log.
 */
export function forHistory(error: unknown, log: Logger): unknown {
  if (error instanceof TemporalFailure || error instanceof Overtaken) return error;
  log.warn({ err: error }, 'an activity failed unexpectedly and is repeated');
  const name = error instanceof Error ? error.name : 'Error';
  return ApplicationFailure.create({ message: `${name}: see the log of the worker`, type: name });
}
