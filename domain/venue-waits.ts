/**
 * Why an executor may make its node wait before anything is sent: the venue does not take the
 * action at present. Suspended is not failed (docs/decisions/0130).
 */
import type { ExecutionResult } from './executor.ts';

/**
 * The codes with which preflight and prepare may answer READY. In lower case each is the reason why
 * a long wait needs a person; the SQL function `attention_of` has the same list.
 */
export const VENUE_WAIT_CODES = ['VENUE_SUSPENDED', 'WITHDRAWAL_QUOTA_EXHAUSTED'] as const;
export type VenueWaitCode = (typeof VENUE_WAIT_CODES)[number];

export interface VenueWait {
  readonly code: VenueWaitCode;
  /** What a person reads: what is suspended or used up, and until when if that is known. */
  readonly message: string;
  /** Seconds until preflight is called again. */
  readonly seconds: number;
}

/** Pause when the executor names none. */
const USUAL_SECONDS = 60;
/** A shorter pause would only use up the venue's rate limit. */
const LEAST_SECONDS = 5;
/** A longer pause would leave a node waiting long after the venue has opened again. */
const MOST_SECONDS = 300;

/**
 * Returns the wait that an answer of preflight or prepare requests, with a bounded pause. Returns
 * null for every other answer, also for READY with another code or without a message.
 */
export function venueWaitOf({
  next_state,
  error_code,
  error_message = '',
  retry_after_seconds = USUAL_SECONDS,
}: ExecutionResult): VenueWait | null {
  const code = VENUE_WAIT_CODES.find((each) => each === error_code);
  if (next_state !== 'READY' || code === undefined || error_message.trim() === '') return null;
  const seconds = Math.min(Math.max(retry_after_seconds, LEAST_SECONDS), MOST_SECONDS);
  return { code, message: error_message, seconds };
}
