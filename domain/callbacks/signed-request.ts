/**
 * The signed part of a callback, and the headers that carry the signatures. platform/ computes the
 * HMAC.
 */

export interface CallbackMessage {
  readonly event_id: string;
  readonly nonce: string;
  /** Seconds since 1970, when this attempt is sent. */
  readonly timestamp: number;
  /** The body exactly as it is sent. */
  readonly body: string;
}

/** The text under `X-SVC-Signature`. */
export function ownSignedText({ timestamp, nonce, body }: CallbackMessage): string {
  return `${timestamp}.${nonce}.${body}`;
}

/** The text under `webhook-signature`, as Standard Webhooks has it. */
export function standardSignedText({ timestamp, nonce, body }: CallbackMessage): string {
  return `${nonce}.${timestamp}.${body}`;
}

export interface CallbackSignatures {
  /** Of {@link ownSignedText}, lowercase hex, one for each secret. */
  readonly own: readonly string[];
  /** Of {@link standardSignedText}, base64, one for each secret. */
  readonly standard: readonly string[];
}

/**
 * The headers of one attempt: one signature for each secret. The server that is called back accepts
 * any signature that it can compute itself.
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
