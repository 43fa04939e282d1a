/** Turns an error into a message of one line and an exit status of the program. */
import {
  ApiError,
  ChangeRequestedError,
  ClientUsageError,
  PreviewError,
  UnreachableError,
  WaitEndedError,
  WaitTimeoutError,
} from '../http/errors.ts';
import { CommandError, EXIT, Interrupted, type ExitStatus } from './exit.ts';

export interface Fault {
  /** Message for the user; null when none is printed. */
  readonly message: string | null;
  readonly status: ExitStatus;
}

/** Error codes of a service that cannot accept the request now; these are no refusals. */
const NOTHING_ACCEPTED = ['overloaded', 'dependency_unavailable'];
const NOT_NOW = [...NOTHING_ACCEPTED, 'outcome_unknown'];

/** Returns message and exit status of an expected error; rethrows others, to print their stack. */
export function faultOf(error: unknown): Fault {
  if (error instanceof CommandError) return { message: error.message, status: error.status };
  if (error instanceof Interrupted) return { message: null, status: EXIT.interrupted };
  if (error instanceof ApiError) return { message: refusal(error), status: statusOf(error) };
  if (error instanceof ChangeRequestedError)
    return {
      message: `${error.message} What changes and who must approve: fundctl changes show ${error.changeRequestId}`,
      status: EXIT.waits,
    };
  if (error instanceof UnreachableError)
    return { message: `${error.message}${reachHint(error)}`, status: EXIT.unreachable };
  if (error instanceof WaitTimeoutError) return { message: error.message, status: EXIT.timedOut };
  if (error instanceof WaitEndedError) return { message: error.message, status: EXIT.failure };
  if (error instanceof PreviewError) return { message: error.message, status: EXIT.failure };
  if (error instanceof ClientUsageError) return { message: error.message, status: EXIT.usage };
  // The prompt library throws these errors on Ctrl-C.
  if (error instanceof Error && /^(ExitPrompt|AbortPrompt)Error$/.test(error.name))
    return { message: 'Nothing was changed.', status: EXIT.interrupted };
  throw error;
}

/** Returns true when the request may have been carried out although no answer confirms that. */
function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof UnreachableError) return error.maybeTaken;
  // The refusal of a later try does not tell the result of an earlier try.
  if (error instanceof ApiError && error.maybeTaken) return true;
  if (error instanceof ApiError)
    return error.status >= 500 && !NOTHING_ACCEPTED.includes(error.rawCode ?? '');
  return error instanceof Interrupted;
}

/** Sends a write with an idempotency key. On an unknown outcome, prints how to repeat safely. */
export async function sendUnder<T>(
  key: string,
  send: (key: string) => Promise<T>,
  say: (text: string) => void,
): Promise<T> {
  try {
    return await send(key);
  } catch (error) {
    if (isOutcomeUnknown(error))
      say(
        `It is not known whether this was carried out. Repeat it with --idempotency-key ${key}: it will not be done twice.`,
      );
    throw error;
  }
}

function statusOf({ status, rawCode }: ApiError): ExitStatus {
  // The service's errors have a code. Without a code, a proxy or another server answered.
  if (rawCode === null) return EXIT.unreachable;
  if (status < 500) return EXIT.refused;
  if (NOT_NOW.includes(rawCode)) return EXIT.unreachable;
  return status === 503 ? EXIT.refused : EXIT.failure;
}

/** Hints about a failed connection, by the error code of the system or of the library. */
const WAYS: readonly (readonly [RegExp, string])[] = [
  [
    /^ECONNREFUSED$/,
    'Nothing listens there: is the service running, and is this its host and port (SVC_API_URL, or api_url of the profile)?',
  ],
  [
    /^(ENOTFOUND|EAI_[A-Z]+)$/,
    'The name of the host cannot be looked up: check how it is written, and the DNS of this machine.',
  ],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'This machine has no network route to the host.'],
  [
    /^(ERR_TLS\w*|\w*CERT\w*|UNABLE_TO_\w*|\w*SELF_SIGNED\w*|CRL_\w*)$/,
    "TLS: the server's certificate is not trusted here, has expired, or belongs to another host.",
  ],
  [
    /^(ERR_SSL_\w*|EPROTO)$/,
    'TLS: the server does not use TLS; should the address begin with http, or have another port?',
  ],
  [
    /^(TIMEOUT|ETIMEDOUT|UND_ERR_\w*TIMEOUT)$/,
    'The server did not answer in time: a firewall drops the packets, or the server is overloaded.',
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_\w+)$/,
    'The server hung up, or does not use plain http: is it another service, a proxy, or a server that requires https?',
  ],
];

function reachHint({ causeCode }: UnreachableError): string {
  const way = WAYS.find(([codes]) => codes.test(causeCode ?? ''));
  return way === undefined ? '' : ` ${way[1]}`;
}

function refusal(error: ApiError): string {
  const { status, rawCode, message, issues, requestId, retryAfterSeconds } = error;
  const parts = [
    rawCode === null ? message : `${rawCode} (${String(status)}): ${message}`,
    ...issues.map((issue) => `${issue.path === '' ? 'the request' : issue.path}: ${issue.message}`),
    ...contextOf(error.context),
    // The service does not report which of the three is wrong, so that an attacker cannot learn it.
    ...(rawCode === 'unauthenticated'
      ? ["check the key, its secret and this machine's clock"]
      : []),
    ...(error.maybeTaken ? ['the request may have been taken'] : []),
    ...(retryAfterSeconds == null ? [] : [`try again in ${String(retryAfterSeconds)} s`]),
    ...(requestId == null ? [] : [`request id ${requestId}`]),
  ];
  return parts.map((part) => part.replace(/\.$/, '')).join('; ');
}

/** Returns the other fields of the error as `name: value`, each value cut to 300 characters. */
function contextOf(context: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return Object.entries(context ?? {}).flatMap(([name, value]) => {
    if (['error', 'message', 'issues', 'request_id'].includes(name)) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`${name}: ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`];
  });
}
