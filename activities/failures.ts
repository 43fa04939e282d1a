/** Creates all Temporal failures, and computes the pause before a phase is repeated. */
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { RetryPolicy } from '../domain/plan/types.ts';
import { UNEXPECTED_FAILURE } from '../domain/stuck-runs.ts';
import { databaseFault } from '../store/faults.ts';
import { isAway } from './kept.ts';

/** Thrown when another write came first. That write decides, so the run reads the row again. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** Executor errors after which a node gives up, when its policy sets no number. */
export const DEFAULT_MAX_ATTEMPTS = 8;

/**
 * Returns the failure that means "look again": not an error, only Temporal's way to repeat the
 * activity after `seconds`.
 */
export function lookAgain(message: string, seconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'NOT_YET',
    nextRetryDelay: Math.round(Math.max(0.05, seconds) * 1000),
  });
}

/** Returns the failure of an executor error; Temporal repeats the phase after `delaySeconds`. */
export function tryAgain(code: string, message: string, delaySeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: code,
    nextRetryDelay: Math.round(delaySeconds * 1000),
  });
}

/** Returns the milliseconds that a failure of this file asks to wait; null for other errors. */
export function delayOf(error: unknown): number | null {
  if (!(error instanceof ApplicationFailure)) return null;
  return typeof error.nextRetryDelay === 'number' ? error.nextRetryDelay : null;
}

/** Returns the number of errors after which the node gives up. */
export function maxAttempts(policy: RetryPolicy | undefined): number {
  return policy?.max_attempts ?? DEFAULT_MAX_ATTEMPTS;
}

/** Returns the seconds before attempt `count` + 1: exponential by the policy, with a maximum. */
export function backoffSeconds(policy: RetryPolicy | undefined, count: number): number {
  const first = policy?.initial_interval_seconds ?? 0.5;
  const factor = policy?.backoff_coefficient ?? 2;
  const cap = policy?.max_interval_seconds ?? 30;
  return Math.min(cap, first * factor ** Math.max(0, count - 1));
}

/** Longest pause between two looks that got no answer. */
const LONGEST_LOOK_PAUSE_SECONDS = 60;

/** Returns the seconds before look `count` + 1, when no look got an answer; a minute at most. */
export function lookPauseSeconds(policy: RetryPolicy | undefined, count: number): number {
  return Math.min(
    LONGEST_LOOK_PAUSE_SECONDS,
    backoffSeconds({ max_interval_seconds: LONGEST_LOOK_PAUSE_SECONDS, ...policy }, count),
  );
}

/** The pause of phases and capital transfers between looks at a send that waits for a person. */
export interface Unhurried {
  /** Seconds between two looks at a send that waits for a person; a minute when left out. */
  readonly unhurriedSeconds?: number;
}

/** Returns the seconds between two looks at a send that a person may decide about at any time. */
export function unhurriedSeconds({ unhurriedSeconds: seconds = 60 }: Unhurried): number {
  return seconds;
}

/**
 * Returns the failure in a form that Temporal may store. For an unexpected error only its name is
 * kept, and the message goes to the log: it may hold a query, a key or a venue's text, and nothing
 * can be removed from a history. The type says whether an outage may be over by itself, or whether
 * the run is stuck once the error comes again and again.
 */
export function forHistory(error: unknown, log: Logger): unknown {
  if (error instanceof TemporalFailure || error instanceof Overtaken) return error;
  log.warn({ err: error }, 'an activity failed unexpectedly and is repeated');
  const name = error instanceof Error ? error.name : 'Error';
  const isOutage = isAway(error) || databaseFault(error) !== 'other';
  return ApplicationFailure.create({
    message: `${name}: see the log of the worker`,
    type: isOutage ? name : UNEXPECTED_FAILURE,
  });
}
