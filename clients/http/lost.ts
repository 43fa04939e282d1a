/** What is known of a request that got no answer. */
import { isObject } from './answer.ts';
import { UnreachableError } from './errors.ts';

/** Nothing was sent: there was no connection to send it over. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|\w*CERT\w*)$/;

/** Faults whose text is of the network alone. Any other may quote what was sent, so it is kept. */
const NETWORK = /^(E[A-Z]+|EAI_[A-Z]+|\w*CERT\w*|UND_ERR_SOCKET|UND_ERR_[A-Z]+_TIMEOUT|HPE_\w+)$/;

export interface LostRequest {
  readonly address: string;
  /** Where nothing is written nothing can have been taken. */
  readonly writes: boolean;
}

/** The error for whatever `fetch` threw. */
export function lost(cause: unknown, { address, writes }: LostRequest): UnreachableError {
  const { code, text } = wordsOf(cause);
  return new UnreachableError({
    address,
    why: text,
    causeCode: code,
    maybeTaken: writes && !(code !== null && NEVER_CONNECTED.test(code)),
  });
}

/** The error for a try that took longer than it may. */
export function tooLate(timeoutMs: number, { address, writes }: LostRequest): UnreachableError {
  const why = `nothing within ${String(timeoutMs / 1000)} s`;
  return new UnreachableError({ address, why, causeCode: 'TIMEOUT', maybeTaken: writes });
}

interface Words {
  readonly code: string | null;
  readonly text: string;
}

/** `fetch` wraps what happened, and a host with several addresses wraps what happened at each. */
function wordsOf(error: unknown): Words {
  // Errors of another realm (a frame, a sandbox) are no instances of this one's.
  if (!isObject(error)) return { code: null, text: 'the connection failed' };
  const { name, message, code, cause, errors } = partsOf(error);
  if (code === null && isObject(cause)) return wordsOf(cause);
  if (code === null || !NETWORK.test(code)) return { code, text: code ?? name };
  const each = errors.filter(isObject).map((one) => partsOf(one).message);
  const text = message || each.join(', ') || code;
  return { code, text: text.replace(/\s+/g, ' ').replace(/\.$/, '') };
}

/** What an error may have; most of it cannot be enumerated. */
function partsOf(error: Readonly<Record<string, unknown>>) {
  const { name, message, code, cause, errors } = error;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    name: text(name) || 'Error',
    message: text(message),
    code: typeof code === 'string' ? code : null,
    cause,
    errors: Array.isArray(errors) ? (errors as readonly unknown[]) : [],
  };
}
