/** Values of the signature headers; each header was sent exactly once and is well-formed. */
import { AuthenticationError } from './refusal.ts';

export interface Credentials {
  readonly keyId: string;
  /** Epoch seconds as sent. */
  readonly timestamp: string;
  readonly nonce: string;
  readonly signature: Buffer;
}

/** Epoch seconds in decimal digits. */
export const TIMESTAMP = /^(0|[1-9][0-9]{0,11})$/;
export const NONCE = /^[A-Za-z0-9._~-]{1,128}$/;

const FORMS = {
  'x-svc-key-id': /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
  'x-svc-timestamp': TIMESTAMP,
  'x-svc-nonce': NONCE,
  'x-svc-signature': /^[0-9a-f]{64}$/,
} as const;

type Headers = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Reads the signature headers, or throws an {@link AuthenticationError} that says what is wrong
 * with them.
 */
export function readCredentials(headers: Headers): Credentials {
  const read = readHeaders(headers, FORMS);
  return {
    keyId: read['x-svc-key-id'],
    timestamp: read['x-svc-timestamp'],
    nonce: read['x-svc-nonce'],
    signature: Buffer.from(read['x-svc-signature'], 'hex'),
  };
}

/** Returns the value of each header in `forms`, or throws an {@link AuthenticationError}. */
export function readHeaders<Name extends string>(
  headers: Headers,
  forms: Readonly<Record<Name, RegExp>>,
): Readonly<Record<Name, string>> {
  const sent = Object.entries<RegExp>(forms).map(([name, form]) => ({
    name,
    form,
    values: headers[name] ?? [],
  }));
  if (sent.some(({ values }) => values.length > 1))
    throw new AuthenticationError('header_repeated');
  if (sent.some(({ values }) => (values[0] ?? '') === ''))
    throw new AuthenticationError('header_missing');
  if (sent.some(({ form, values }) => !form.test(values[0] ?? '')))
    throw new AuthenticationError('header_malformed');
  return Object.fromEntries(sent.map(({ name, values }) => [name, values[0] ?? ''])) as Record<
    Name,
    string
  >;
}
