/**
 * What the phases of an executor may return: one constructor for each answer, so that a wrong
 * answer does not compile.
 */
import type { Artifact, CompletionAssurance, SignRequest } from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';
import type { VenueWaitCode } from '../domain/venue-waits.ts';

/** Optional fields of most answers. Later nodes of the plan can refer to `output`. */
export interface Extras {
  readonly external_ref?: string;
  readonly output?: JsonObject;
  readonly artifacts?: readonly Artifact[];
}

export type Prepared<P extends JsonObject> = {
  readonly next_state: 'SUBMITTING';
  readonly prepared_action: P;
  readonly sign_request?: SignRequest;
};
export type Accepted = Extras & {
  readonly next_state: 'SUBMITTED';
  readonly external_ref: string;
  readonly retry_after_seconds?: number;
};
export type Pending = Extras & {
  readonly next_state: 'OBSERVING';
  readonly retry_after_seconds: number;
};
export type Completed = Extras & {
  readonly next_state: 'COMPLETED';
  readonly assurance?: CompletionAssurance;
};
export type Failed = {
  readonly next_state: 'FAILED';
  readonly error_code: string;
  readonly error_message: string;
};
export type NotNow = {
  readonly next_state: 'READY';
  readonly error_code: VenueWaitCode;
  readonly error_message: string;
  readonly retry_after_seconds?: number;
};
export type NotLanded = { readonly next_state: 'READY' };
export type Unknown = { readonly next_state: 'UNKNOWN'; readonly error_message: string };

/** Result of preflight: the action may run. */
export function passed(): null {
  return null;
}

/**
 * Result of prepare: everything that submit will do, decided now. Submit gets the same bytes, also
 * when it is repeated.
 */
export function prepared<P extends JsonObject>(action: P, signRequest?: SignRequest): Prepared<P> {
  return {
    next_state: 'SUBMITTING',
    prepared_action: action,
    ...(signRequest === undefined ? {} : { sign_request: signRequest }),
  };
}

/**
 * Result of submit, recover or cancel: the provider has accepted the send as `externalRef`; observe
 * reports later how it ends.
 */
export function accepted(
  externalRef: string,
  extras: Omit<Extras, 'external_ref'> & { retry_after_seconds?: number } = {},
): Accepted {
  return { next_state: 'SUBMITTED', external_ref: externalRef, ...extras };
}

/**
 * Result of observe or recover: the send is still under way; the service asks again after
 * `afterSeconds`.
 */
export function pending(afterSeconds: number, extras: Extras = {}): Pending {
  return { next_state: 'OBSERVING', retry_after_seconds: afterSeconds, ...extras };
}

/**
 * Result: the send had its effect, which is final as far as this executor can tell. `assurance`
 * says what has been proven, if that is more than the provider's own statement. If `assurance` is
 * weaker than `context.completion_assurance`, the service continues to observe.
 */
export function completed(
  extras: Extras & { readonly assurance?: CompletionAssurance } = {},
): Completed {
  return { next_state: 'COMPLETED', ...extras };
}

/**
 * Result: proof that nothing was sent and nothing can arrive later, or that the provider has ended
 * the send.
 * Never return this for "I could not reach the bank": throw an exception (or return {@link unknown}
 * in recover), since a failed node may be paid again.
 */
export function failed(code: string, message: string): Failed {
  return { next_state: 'FAILED', error_code: code, error_message: message };
}

/**
 * Result of preflight or prepare: nothing was done, because the provider does not take the action
 * at present. The node waits and runs preflight again after `afterSeconds` (5 to 300; 60 if
 * absent). A person reads `message`, which says until when if that is known.
 */
export function notNow(code: VenueWaitCode, message: string, afterSeconds?: number): NotNow {
  return {
    next_state: 'READY',
    error_code: code,
    error_message: message,
    ...(afterSeconds === undefined ? {} : { retry_after_seconds: afterSeconds }),
  };
}

/** Result of recover only: nothing was sent under this key, and nothing can still arrive. */
export function notLanded(): NotLanded {
  return { next_state: 'READY' };
}

/**
 * Result of recover only: the outcome is not known now. The service calls recover a few more times,
 * and then a person decides.
 */
export function unknown(message: string): Unknown {
  return { next_state: 'UNKNOWN', error_message: message };
}

/**
 * Thrown for a request that can never be served, however often it is repeated: a 4xx over HTTP, a
 * failure without retry on a task queue. Ends the node in preflight and prepare. In submit this
 * error proves nothing, so return {@link failed} there.
 */
export class Rejected extends Error {
  override readonly name = 'Rejected';
  readonly code: string;
  readonly status: number;
  constructor(code: string, message: string, status = 422) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Thrown when a later call may succeed: a 503 over HTTP, a failure with retry on a task queue. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterSeconds: number | undefined;
  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
