/**
 * What the phases of an executor may answer, a constructor for each, so that a wrong answer does
 * not compile.
 */
import type { Artifact, CompletionAssurance, SignRequest } from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';

/** What may go with most answers. `output` is what later nodes of the plan can refer to. */
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
export type NotLanded = { readonly next_state: 'READY' };
export type Unknown = { readonly next_state: 'UNKNOWN'; readonly error_message: string };

/** preflight: nothing speaks against it. */
export function passed(): null {
  return null;
}

/**
 * prepare: everything that submit will do, decided now. The same bytes come back to submit, also
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
 * submit, recover, cancel: the other side has it under `externalRef`; observe will tell how it
 * ends.
 */
export function accepted(
  externalRef: string,
  extras: Omit<Extras, 'external_ref'> & { retry_after_seconds?: number } = {},
): Accepted {
  return { next_state: 'SUBMITTED', external_ref: externalRef, ...extras };
}

/** observe, recover: it is under way; ask again in so many seconds. */
export function pending(afterSeconds: number, extras: Extras = {}): Pending {
  return { next_state: 'OBSERVING', retry_after_seconds: afterSeconds, ...extras };
}

/**
 * The effect is there, and final as far as this executor can tell. `assurance` says what has been
 * shown, where that is more than the provider's own word; less than `context.completion_assurance`
 * asks for, and the service goes on observing.
 */
export function completed(
  extras: Extras & { readonly assurance?: CompletionAssurance } = {},
): Completed {
  return { next_state: 'COMPLETED', ...extras };
}

/**
 * Proven: nothing landed and nothing will, or the other side has ended it. Never for "I could not
 * reach the bank":
 * that is an exception (or {@link unknown} in recover), since a failed node may be paid again.
 */
export function failed(code: string, message: string): Failed {
  return { next_state: 'FAILED', error_code: code, error_message: message };
}

/**
 * recover only: nothing was sent under this key, and nothing that is still on its way can arrive.
 */
export function notLanded(): NotLanded {
  return { next_state: 'READY' };
}

/**
 * recover only: the outcome is not known now. The service calls again a few times, and then a
 * person decides.
 */
export function unknown(message: string): Unknown {
  return { next_state: 'UNKNOWN', error_message: message };
}

/**
 * A request that cannot be served however often it is repeated: a 4xx over HTTP, a failure that is
 * not retried on a task queue. Ends the node in preflight and prepare; in submit it proves nothing,
 * so return {@link failed} there.
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

/** Not now: a 503 over HTTP, a retried failure on a task queue. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterSeconds: number | undefined;
  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
