/** `fetch` that signs. */
import { signatureHeaders, type SigningKey } from './signing.ts';

export interface SignedInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** Signs and sends one request; a repeat is a new call, since a nonce is taken once. */
export function signedFetch(
  key: SigningKey,
  url: string,
  init: SignedInit = {},
): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal } = init;
  return fetch(url, {
    method,
    headers: { ...headers, ...signatureHeaders(key, { method, url, body }) },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
}
