/** The four headers of a signature, each exactly once and well-formed. */
import { AuthenticationError } from './refusal.ts';
import { SIGNATURE_HEADERS } from './canonical.ts';

export interface Credentials {
  readonly keyId: string;
  /** Epoch seconds as sent. */
  readonly timestamp: string;
  readonly nonce: string;
  readonly signature: Buffer;
}

const FORMS: Readonly<Record<(typeof SIGNATURE_HEADERS)[number], RegExp>> = {
  'x-svc-key-id': /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
  'x-svc-timestamp': /^(0|[1-9][0-9]{0,11})$/,
  'x-svc-nonce': /^[A-Za-z0-9._~-]{1,128}$/,
  'x-svc-signature': /^[0-9a-f]{64}$/,
};

/** Reads them, or throws an {@link AuthenticationError} that says what is wrong with the set. */
export function readCredentials(headers: Readonly<Record<string, readonly string[] | undefined>>): Credentials {
  const sent = SIGNATURE_HEADERS.map((name) => ({ name, values: headers[name] ?? [] }));
  if (sent.some(({ values }) => values.length > 1)) throw new AuthenticationError('header_repeated');
  if (sent.some(({ values }) => (values[0] ?? '') === '')) throw new AuthenticationError('header_missing');
  if (sent.some(({ name, values }) => !FORMS[name].test(values[0] ?? ''))) throw new AuthenticationError('header_malformed');
  const [keyId = '', timestamp = '', nonce = '', signature = ''] = sent.map(({ values }) => values[0]);
  return { keyId, timestamp, nonce, signature: Buffer.from(signature, 'hex') };
}
