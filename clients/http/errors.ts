/** All errors that the client throws. */
import { ERRORS } from './generated/errors.ts';

/** An error code of the service; the list of codes is closed. */
export type ErrorCode = keyof typeof ERRORS;

/** One invalid place of a request. */
export interface Issue {
  /** Path of the place, such as `nodes[2].node_key`. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** The caller used the client in a wrong way; nothing was sent. */
export class ClientUsageError extends Error {
  override readonly name = 'ClientUsageError';
}

export interface ApiErrorParts {
  readonly status: number;
  readonly rawCode: string | null;
  readonly message: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly issues: readonly Issue[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly maybeTaken?: boolean;
}

/** The service returned an error. The message is the service's own. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Error code; null when the answer has no code, or a code that this version does not know. */
  readonly code: ErrorCode | null;
  /** Error code exactly as the answer has it, known or not; null without a code. */
  readonly rawCode: string | null;
  /** The other fields of the error, without code, message and issues. */
  readonly context: Readonly<Record<string, unknown>>;
  /** With `invalid_request`: each invalid place of the request. */
  readonly issues: readonly Issue[];
  /** Id of the request in the service's log; null when the answer has none. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** True when it is unknown whether the request, or an earlier try, was carried out. */
  readonly maybeTaken: boolean;

  constructor(parts: ApiErrorParts) {
    super(parts.message);
    this.status = parts.status;
    this.rawCode = parts.rawCode;
    this.code = isErrorCode(parts.rawCode) ? parts.rawCode : null;
    this.context = parts.context;
    this.issues = parts.issues;
    this.requestId = parts.requestId;
    this.retryAfterSeconds = parts.retryAfterSeconds;
    this.maybeTaken = parts.maybeTaken ?? false;
  }
}

/** The service answered 202: an approval rule makes the change wait. Nothing was changed yet. */
export class ChangeRequestedError extends Error {
  override readonly name = 'ChangeRequestedError';
  /** Id of the change request, which people approve. A repeat of the call is the same request. */
  readonly changeRequestId: string;
  /** What kind of change it is, such as `allowlist`. */
  readonly kind: string;
  /** Hash of the change request's document; an approval names it. */
  readonly hash: string;

  constructor(parts: {
    readonly changeRequestId: string;
    readonly kind: string;
    readonly hash: string;
  }) {
    super(
      `This change waits for approvals as change request ${parts.changeRequestId}; nothing was changed yet.`,
    );
    this.changeRequestId = parts.changeRequestId;
    this.kind = parts.kind;
    this.hash = parts.hash;
  }
}

/** The service sent no answer, or only a part of an answer. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** Address to which the request was sent: scheme, host and port. */
  readonly address: string;
  /** Why no answer was received, in a few words. */
  readonly why: string;
  /** Error code of the operating system (`ECONNREFUSED`) or library; null without a code. */
  readonly causeCode: string | null;
  /** True when the request may have been carried out; check before you send another request. */
  readonly maybeTaken: boolean;

  constructor(parts: {
    readonly address: string;
    readonly why: string;
    readonly causeCode: string | null;
    readonly maybeTaken: boolean;
  }) {
    const taken = parts.maybeTaken ? '; the request may have been taken' : '';
    super(`No answer from ${parts.address}: ${parts.why}${taken}.`);
    this.address = parts.address;
    this.why = parts.why;
    this.causeCode = parts.causeCode;
    this.maybeTaken = parts.maybeTaken;
  }
}

/** Returns the same error with `maybeTaken`: an earlier try may have been carried out. */
export function inDoubt(error: ApiError | UnreachableError): ApiError | UnreachableError {
  return error instanceof ApiError
    ? new ApiError({ ...error, message: error.message, maybeTaken: true })
    : new UnreachableError({ ...error, maybeTaken: true });
}

/**
 * The answer to a preview request was no preview. This is an alarm: the request may have been
 * carried out.
 */
export class PreviewError extends Error {
  override readonly name = 'PreviewError';
  readonly status: number;
  /** Id of the created movement; null when the answer has none. */
  readonly movementId: string | null;

  constructor(status: number, movementId: string | null) {
    super(
      movementId === null
        ? `ALARM: a preview was answered ${String(status)} with no preview. Something between you and the service changes requests or answers; look for what was made.`
        : `ALARM: a preview was carried out (${String(status)}): movement ${movementId} was made. Reject or cancel it, and find what between you and the service changes requests.`,
    );
    this.status = status;
    this.movementId = movementId;
  }
}

/** The target state was not reached in time, but may still be reached later. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
  /** The last state that was seen; null when no state was seen. */
  readonly state: string | null;

  constructor(what: string, state: string | null, timeoutMs: number) {
    super(
      `${what} is ${state ?? 'not seen yet'} after ${String(timeoutMs / 1000)} s; it did not reach the target state in time.`,
    );
    this.state = state;
  }
}

/** The movement or transfer ended in another state: the target state can no longer be reached. */
export class WaitEndedError extends Error {
  override readonly name = 'WaitEndedError';
  /** End state of the movement or transfer. */
  readonly state: string;
  /** `error_code` of the movement or transfer; null without one. */
  readonly errorCode: string | null;

  constructor(what: string, state: string, errorCode: string | null) {
    super(`${what} ended as ${state}${errorCode === null ? '' : ` (${errorCode})`}.`);
    this.state = state;
    this.errorCode = errorCode;
  }
}

/** Returns whether this version of the client knows the error code. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}
