/** Signs callbacks. The secrets are only in this closure, so no code can print them. */
import { createHmac } from 'node:crypto';
import {
  callbackHeaders,
  ownSignedText,
  standardSignedText,
  type CallbackMessage,
} from '../domain/callbacks/signed-request.ts';

/** Returns the headers of one delivery attempt, signed with every secret. */
export type CallbackSigner = (message: CallbackMessage) => Readonly<Record<string, string>>;

const PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A secret that cannot be used; the message never contains the secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * Returns the keys of a comma-separated list. A key is the bytes of the text; after `whsec_`, the
 * base64-decoded bytes of the rest.
 */
export function callbackKeys(list: string): readonly Buffer[] {
  return list.split(',').map((secret, index) => {
    const refuse = (why: string): never => {
      throw new SecretError(`secret ${index + 1} ${why}`);
    };
    if (secret === '') return refuse('is empty');
    if (secret.trim() !== secret)
      return refuse('begins or ends with white space, which would be part of its key');
    if (!secret.startsWith(PREFIX)) return Buffer.from(secret, 'utf8');
    const encoded = secret.slice(PREFIX.length);
    return encoded !== '' && BASE64.test(encoded)
      ? Buffer.from(encoded, 'base64')
      : refuse(`is not base64 after ${PREFIX}`);
  });
}

/** Returns a signer with every secret of the list. Throws {@link SecretError}. */
export function createCallbackSigner(list: string): CallbackSigner {
  const keys = callbackKeys(list);
  const hmac = (text: string, encoding: 'hex' | 'base64'): string[] =>
    keys.map((key) => createHmac('sha256', key).update(text, 'utf8').digest(encoding));
  return (message) =>
    callbackHeaders(message, {
      own: hmac(ownSignedText(message), 'hex'),
      standard: hmac(standardSignedText(message), 'base64'),
    });
}
