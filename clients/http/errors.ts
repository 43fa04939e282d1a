/** Everything that the client throws by itself. */
import { ERRORS } from './generated/errors.ts';

/** A code of the service's closed table. */
export type ErrorCode = keyof typeof ERRORS;

/** One place of a request that does not fit. */
export interface Issue {
  /** As in `nodes[2].node_key`. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** The caller's own mistake, found before anything was sent. */
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

/** The service answered, and it was no success. The message is the service's own. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Null when the answer names no code, or one that this version does not know. */
  readonly code: ErrorCode | null;
  /** The code as it was answered. */
  readonly rawCode: string | null;
  /** What the service says beside code, message and issues. */
  readonly context: Readonly<Record<string, unknown>>;
  /** With `invalid_request`: each place that does not fit. */
  readonly issues: readonly Issue[];
  /** Under which the service's log has more. */
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  /** It is not known whether the request, or an earlier try of it, was carried out. */
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

/** There was no answer, or only part of one. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** Where the service was looked for: scheme, host and port. */
  readonly address: string;
  /** What happened, in a few words. */
  readonly why: string;
  /** The operating system's word for it (`ECONNREFUSED`), where there is one. */
  readonly causeCode: string | null;
  /** The request may have been carried out all the same; look before you send another. */
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

/** The same error, of a request of which an earlier try may have been carried out. */
export function inDoubt(error: ApiError | UnreachableError): ApiError | UnreachableError {
  return error instanceof ApiError
    ? new ApiError({ ...error, message: error.message, maybeTaken: true })
    : new UnreachableError({ ...error, maybeTaken: true });
}

/**
 * A preview was answered by something that is no preview: an alarm, since the request may have been
 * carried out.
 */
export class PreviewError extends Error {
  override readonly name = 'PreviewError';
  readonly status: number;
  /** The movement that was made, null when the answer names none. */
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

/** What was waited for did not come in time; it may still come. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
  /** The last state that was seen, null when none was. */
  readonly state: string | null;

  constructor(what: string, state: string | null, timeoutMs: number) {
    super(
      `${what} is ${state ?? 'not seen yet'} after ${String(timeoutMs / 1000)} s, and not what was waited for.`,
    );
    this.state = state;
  }
}

/** What was waited for can no longer come: it ended in another state. */
export class WaitEndedError extends Error {
  override readonly name = 'WaitEndedError';
  /** The state in which it ended. */
  readonly state: string;
  /** The `error_code` of what ended, where it has one. */
  readonly errorCode: string | null;

  constructor(what: string, state: string, errorCode: string | null) {
    super(`${what} ended as ${state}${errorCode === null ? '' : ` (${errorCode})`}.`);
    this.state = state;
    this.errorCode = errorCode;
  }
}

/** Whether this version of the client knows the code. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}
