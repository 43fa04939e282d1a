/** The only maker of Temporal failures, and of the pause before a phase is repeated. */
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { RetryPolicy } from '../domain/plan/types.ts';

/**
 * Another write came first. That write decides, so this run reads the database again.
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

/** Longest pause between two looks without an answer. */
const LONGEST_LOOK_PAUSE_SECONDS = 60;

/** Seconds before look `count` + 1, after `count` looks without an answer: a minute at most. */
export function lookPauseSeconds(policy: RetryPolicy | undefined, count: number): number {
  return Math.min(
    LONGEST_LOOK_PAUSE_SECONDS,
    backoffSeconds({ max_interval_seconds: LONGEST_LOOK_PAUSE_SECONDS, ...policy }, count),
  );
}

/** Part of the dependencies of phases and of looks at transfers. */
export interface Unhurried {
  /** Pause between two looks at a send that waits for a person; a minute when left out. */
  readonly unhurriedSeconds?: number;
}

/** Seconds between two looks at a send that a person may decide about at any time. */
export function unhurriedSeconds({ unhurriedSeconds: seconds = 60 }: Unhurried): number {
  return seconds;
}

/**
 * Temporal keeps only the name of an unexpected error. Its message may hold a query, a key or text
 * of a venue, and a history cannot be cleaned; so the message goes to the log.
 */
export function forHistory(error: unknown, log: Logger): unknown {
  if (error instanceof TemporalFailure || error instanceof Overtaken) return error;
  log.warn({ err: error }, 'an activity failed unexpectedly and is repeated');
  const name = error instanceof Error ? error.name : 'Error';
  return ApplicationFailure.create({ message: `${name}: see the log of the worker`, type: name });
}
