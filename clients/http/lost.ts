/** What is known of a request that got no answer. */
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

/** `fetch` wraps what happened, and a host with several addresses wraps what happened at each. */
function wordsOf(error: unknown): { readonly code: string | null; readonly text: string } {
  if (!(error instanceof Error)) return { code: null, text: 'the connection failed' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === null && error.cause !== undefined) return wordsOf(error.cause);
  if (code === null || !NETWORK.test(code)) return { code, text: code ?? error.name };
  const each = 'errors' in error && Array.isArray(error.errors) ? (error.errors as Error[]) : [];
  const text = error.message || each.map(({ message }) => message).join(', ') || code;
  return { code, text: text.replace(/\s+/g, ' ').replace(/\.$/, '') };
}
