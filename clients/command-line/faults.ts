/** What a person is told of a fault, in one line, and with which status the program ends. */
import {
  ApiError,
  ClientUsageError,
  PreviewError,
  UnreachableError,
  WaitEndedError,
  WaitTimeoutError,
} from '../http/errors.ts';
import { CommandError, EXIT, Interrupted, type ExitStatus } from './exit.ts';

export interface Fault {
  /** Null when there is nothing to say. */
  readonly message: string | null;
  readonly status: ExitStatus;
}

/** These say that nobody can answer now, not that the request is refused. */
const NOTHING_ACCEPTED = ['overloaded', 'dependency_unavailable'];
const NOT_NOW = [...NOTHING_ACCEPTED, 'outcome_unknown'];

/** A fault that nobody has foreseen keeps its stack. */
export function faultOf(error: unknown): Fault {
  if (error instanceof CommandError) return { message: error.message, status: error.status };
  if (error instanceof Interrupted) return { message: null, status: EXIT.interrupted };
  if (error instanceof ApiError) return { message: refusal(error), status: statusOf(error) };
  if (error instanceof UnreachableError)
    return { message: error.message, status: EXIT.unreachable };
  if (error instanceof WaitTimeoutError) return { message: error.message, status: EXIT.timedOut };
  if (error instanceof WaitEndedError) return { message: error.message, status: EXIT.failure };
  if (error instanceof PreviewError) return { message: error.message, status: EXIT.failure };
  if (error instanceof ClientUsageError) return { message: error.message, status: EXIT.usage };
  // The prompt's own words for Ctrl-C.
  if (error instanceof Error && /^(ExitPrompt|AbortPrompt)Error$/.test(error.name))
    return { message: 'Nothing was changed.', status: EXIT.interrupted };
  throw error;
}

/** Whether the request may have been carried out although no answer says so. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof UnreachableError) return error.maybeTaken;
  // A later try that was turned away says nothing of the one before.
  if (error instanceof ApiError && error.maybeTaken) return true;
  if (error instanceof ApiError)
    return error.status >= 500 && !NOTHING_ACCEPTED.includes(error.rawCode ?? '');
  return error instanceof Interrupted;
}

function statusOf({ status, rawCode }: ApiError): ExitStatus {
  // An answer that is no answer of the service: somebody stands in between.
  if (rawCode === null) return EXIT.unreachable;
  if (status < 500) return EXIT.refused;
  if (NOT_NOW.includes(rawCode)) return EXIT.unreachable;
  return status === 503 ? EXIT.refused : EXIT.failure;
}

function refusal(error: ApiError): string {
  const { status, rawCode, message, issues, requestId, retryAfterSeconds } = error;
  const parts = [
    rawCode === null ? message : `${rawCode} (${String(status)}): ${message}`,
    ...issues.map((issue) => `${issue.path === '' ? 'the request' : issue.path}: ${issue.message}`),
    ...contextOf(error.context),
    // The service tells no stranger which of them it is.
    ...(rawCode === 'unauthenticated'
      ? ["check the key, its secret and this machine's clock"]
      : []),
    ...(error.maybeTaken ? ['the request may have been taken'] : []),
    ...(retryAfterSeconds == null ? [] : [`try again in ${String(retryAfterSeconds)} s`]),
    ...(requestId == null ? [] : [`request id ${requestId}`]),
  ];
  return parts.map((part) => part.replace(/\.$/, '')).join('; ');
}

/** What else the service said, as far as it is short. */
function contextOf(context: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return Object.entries(context ?? {}).flatMap(([name, value]) => {
    if (['error', 'message', 'issues', 'request_id'].includes(name)) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`${name}: ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`];
  });
}
