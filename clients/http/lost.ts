/** Makes the error for a request that got no answer. */
import { isObject } from './answer.ts';
import { UnreachableError } from './errors.ts';

/** Error codes which show that nothing was sent, because there was no connection. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|\w*CERT\w*)$/;

/** Error codes whose message is only about the network. Other messages may quote the request. */
const NETWORK = /^(E[A-Z]+|EAI_[A-Z]+|\w*CERT\w*|UND_ERR_SOCKET|UND_ERR_[A-Z]+_TIMEOUT|HPE_\w+)$/;

export interface LostRequest {
  readonly address: string;
  /** Whether the request writes; a request that only reads is never in doubt. */
  readonly writes: boolean;
}

/** Returns the error for an exception of `fetch`. */
export function lost(cause: unknown, { address, writes }: LostRequest): UnreachableError {
  const { code, text } = wordsOf(cause);
  return new UnreachableError({
    address,
    why: text,
    causeCode: code,
    maybeTaken: writes && !(code !== null && NEVER_CONNECTED.test(code)),
  });
}

/** Returns the error for a try that exceeded its time limit. */
export function tooLate(timeoutMs: number, { address, writes }: LostRequest): UnreachableError {
  const why = `nothing within ${String(timeoutMs / 1000)} s`;
  return new UnreachableError({ address, why, causeCode: 'TIMEOUT', maybeTaken: writes });
}

interface Words {
  readonly code: string | null;
  readonly text: string;
}

/** Returns code and text. `fetch` wraps the cause; several host addresses give several errors. */
function wordsOf(error: unknown): Words {
  // Not `instanceof Error`: that fails for an error of another realm (a frame, a sandbox).
  if (!isObject(error)) return { code: null, text: 'the connection failed' };
  const { name, message, code, cause, errors } = partsOf(error);
  if (code === null && isObject(cause)) return wordsOf(cause);
  if (code === null || !NETWORK.test(code)) return { code, text: code ?? name };
  const each = errors.filter(isObject).map((one) => partsOf(one).message);
  const text = message || each.join(', ') || code;
  return { code, text: text.replace(/\s+/g, ' ').replace(/\.$/, '') };
}

/** Returns the fields of an error by name, because most fields cannot be enumerated. */
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
