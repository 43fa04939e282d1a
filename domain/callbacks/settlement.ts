/** Decides what to record after an attempt to send a callback. */
import { SYSTEM_ACTOR } from '../roles.ts';
import type { TimelineEntry } from '../transition.ts';
import { afterFailure } from './backoff.ts';

/** A callback that a sender has claimed and is sending now. */
export interface ClaimedCallback {
  readonly event_id: string;
  /** Exactly one of these three is set: what the callback is of. */
  readonly movement_id: string | null;
  readonly transfer_id: string | null;
  readonly webhook: string | null;
  readonly event_type: string;
  readonly url: string;
  readonly payload: string;
  readonly nonce: string;
  /** Number of earlier attempts. */
  readonly attempts: number;
  /** The trace of the movement that it is about, as a W3C traceparent; null: none. */
  readonly trace_parent: string | null;
}

export type AttemptOutcome =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The new content of the callback's row. `seen_attempts`: attempts when the callback was claimed.
 */
export interface Settlement {
  readonly event_id: string;
  readonly movement_id: string | null;
  readonly seen_attempts: number;
  readonly status: 'pending' | 'delivered' | 'dead_letter';
  readonly attempts: number;
  readonly last_error: string | null;
  readonly delay_seconds?: number;
  readonly timeline: readonly TimelineEntry[];
}

/** Returns whether a receiver's HTTP status says that it has the callback. */
export function isDelivery(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns what to record for an outcome. Any 2xx is a delivery; everything else is tried again
 * after a pause. A target that may never be called becomes a dead letter immediately.
 */
export function settle(
  callback: ClaimedCallback,
  outcome: AttemptOutcome,
  maxAttempts: number,
): Settlement {
  const { event_id, movement_id, attempts } = callback;
  const about = { event_id, movement_id, seen_attempts: attempts };
  if (outcome.kind === 'refused') return deadLetter(callback, attempts, outcome.reason);
  if (outcome.kind === 'answered' && isDelivery(outcome.status)) {
    const timeline = [
      entry(callback, 'callback_delivered', 'was delivered', { attempts: attempts + 1 }),
    ];
    return { ...about, status: 'delivered', attempts: attempts + 1, last_error: null, timeline };
  }
  const reason = outcome.kind === 'answered' ? `http_${outcome.status}` : outcome.reason;
  const next = afterFailure(attempts, maxAttempts);
  if (next.status === 'dead_letter') return deadLetter(callback, attempts + 1, reason);
  return {
    ...about,
    status: 'pending',
    attempts: attempts + 1,
    last_error: reason,
    delay_seconds: next.delay_seconds,
    timeline: [],
  };
}

function deadLetter(callback: ClaimedCallback, attempts: number, reason: string): Settlement {
  const { event_id, movement_id } = callback;
  const timeline = [
    entry(callback, 'callback_dead_lettered', `is a dead letter: ${reason}`, { attempts, reason }),
  ];
  return {
    event_id,
    movement_id,
    seen_attempts: callback.attempts,
    status: 'dead_letter',
    attempts,
    last_error: reason,
    timeline,
  };
}

function entry(
  { event_id, event_type }: ClaimedCallback,
  kind: 'callback_delivered' | 'callback_dead_lettered',
  what: string,
  more: { readonly attempts: number; readonly reason?: string },
): TimelineEntry {
  const data = { callback_event_id: event_id, callback_event_type: event_type, ...more };
  return {
    event_type: kind,
    message: `The callback ${event_type} ${what}`,
    actor: SYSTEM_ACTOR,
    data,
  };
}
