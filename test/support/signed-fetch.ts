/** `fetch` that signs as the client does, for requests that the client would not send. */
import { signatureHeaders } from '../../clients/http/index.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';

export interface SignedInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** Signs and sends one request; a repeat is a new call, since a nonce is taken once. */
export async function signedFetch(
  key: SigningKey,
  url: string,
  init: SignedInit = {},
): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal } = init;
  const signed = await signatureHeaders(key, { method, url, body });
  return fetch(url, {
    method,
    headers: { ...headers, ...signed },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
}
