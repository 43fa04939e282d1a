/**
 * Builds the signed text of a callback, and the headers that carry the signatures. platform/
 * computes the HMAC.
 */

export interface CallbackMessage {
  readonly event_id: string;
  readonly nonce: string;
  /** When this attempt is sent, in seconds since 1970. */
  readonly timestamp: number;
  /** The request body, exactly as it is sent. */
  readonly body: string;
}

/** Returns the text that `X-SVC-Signature` signs. */
export function ownSignedText({ timestamp, nonce, body }: CallbackMessage): string {
  return `${timestamp}.${nonce}.${body}`;
}

/** Returns the text that `webhook-signature` signs, as Standard Webhooks defines it. */
export function standardSignedText({ timestamp, nonce, body }: CallbackMessage): string {
  return `${nonce}.${timestamp}.${body}`;
}

export interface CallbackSignatures {
  /** Signatures of {@link ownSignedText} in lowercase hex, one for each secret. */
  readonly own: readonly string[];
  /** Signatures of {@link standardSignedText} in base64, one for each secret. */
  readonly standard: readonly string[];
}

/**
 * Returns the headers of one attempt, with one signature for each secret. The receiver accepts the
 * callback if any signature matches one that it computes.
 */
export function callbackHeaders(
  message: CallbackMessage,
  signatures: CallbackSignatures,
): Readonly<Record<string, string>> {
  const timestamp = String(message.timestamp);
  return {
    'content-type': 'application/json',
    'X-SVC-Event-Id': message.event_id,
    'X-SVC-Timestamp': timestamp,
    'X-SVC-Nonce': message.nonce,
    'X-SVC-Signature': signatures.own.map((hex) => `v1=${hex}`).join(','),
    'webhook-id': message.nonce,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.standard.map((base64) => `v1,${base64}`).join(' '),
  };
}
