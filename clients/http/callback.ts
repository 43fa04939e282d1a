/** Checks that a callback, or a message to a webhook, was sent by the service. */
import { isObject } from './answer.ts';
import { type Bytes, importHmacKey, ownBytes, subtle, utf8 } from './bytes.ts';
import { ClientUsageError } from './errors.ts';

/** Content of a callback. A callback is only a hint: the API returns the current state. */
export interface CallbackEvent {
  readonly event_id: string;
  readonly event_type: string;
  /** Null for a callback about a capital transfer. */
  readonly movement_id: string | null;
  /** Only in a callback about a capital transfer. */
  readonly transfer_id?: string;
  readonly request_state: string;
  readonly current_frontier: readonly string[];
  readonly node_key: string | null;
  readonly error_code: string | null;
  /** Counts up within a movement or transfer. Callbacks may arrive twice or out of order. */
  readonly sequence: number;
  readonly occurred_at: string;
}

/** A message to a webhook of the service. It is only a hint: the API returns the current state. */
export interface WebhookMessage {
  /** What happened, such as `movement.approval_needed`; more types may come. */
  readonly type: string;
  readonly timestamp: string;
  /** What it is about; the fields depend on the type. */
  readonly data: Readonly<Record<string, unknown>> & {
    /** The page of the console that shows it. */
    readonly link: string;
  };
}

export type CallbackFault =
  'header_missing' | 'timestamp_invalid' | 'too_old' | 'too_early' | 'no_match' | 'body_invalid';

/** The callback failed a check: do not trust it. */
export class CallbackError extends Error {
  override readonly name = 'CallbackError';
  readonly fault: CallbackFault;

  constructor(fault: CallbackFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

export type CallbackHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Allowed difference between timestamp and now, in both directions (default 300 seconds). */
  readonly toleranceSeconds?: number | undefined;
  /** Current time in epoch seconds; default: the system clock. */
  readonly now?: number | undefined;
}

/** One of the two signature schemes of a callback; the service signs with both. */
interface Scheme {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly signed: (id: string, timestamp: string) => string;
  readonly signatures: (header: string) => readonly Bytes[];
}

const OWN: Scheme = {
  id: 'x-svc-nonce',
  timestamp: 'x-svc-timestamp',
  signature: 'x-svc-signature',
  signed: (nonce, timestamp) => `${timestamp}.${nonce}.`,
  signatures: (header) =>
    [...header.matchAll(/(?:^|,)\s*v1=([0-9a-f]{64})(?=\s*(?:,|$))/g)].map(([, text = '']) =>
      Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16)),
    ),
};

const STANDARD: Scheme = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
  signed: (id, timestamp) => `${id}.${timestamp}.`,
  signatures: (header) =>
    [...header.matchAll(/(?:^| )v1,([A-Za-z0-9+/]{43}=)(?= |$)/g)].map(([, text = '']) =>
      fromBase64(text),
    ),
};

/**
 * Checks age and signature, then returns the parsed body. A callback is signed in two ways: with
 * this service's own headers and with the headers of Standard Webhooks. At least one signature must
 * be present, and every signature that is present must be valid.
 *
 * @param rawBody the body exactly as received; JSON that was parsed and written again has other
 *   bytes
 * @param secrets the secrets as the service has them, in a list or separated by commas; during a
 *   change of secrets, the old and the new secret
 * @throws CallbackError with what is wrong, ClientUsageError for an invalid secret
 */
export async function verifyCallback(
  rawBody: string | Uint8Array,
  headers: CallbackHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<CallbackEvent> {
  const event = await verified(rawBody, headers, secrets, options);
  if (typeof event?.['event_id'] !== 'string')
    throw new CallbackError('body_invalid', 'It is signed well, and its body is no callback.');
  // The cast is safe: the signature shows that the service wrote this body.
  return event as object as CallbackEvent;
}

/**
 * Checks a message to a webhook of the service (`fundadmin webhooks`) as {@link verifyCallback}
 * checks a callback, and returns its parsed body. A message may arrive twice: the header
 * `webhook-id` is the same each time.
 *
 * @throws CallbackError with what is wrong, ClientUsageError for an invalid secret
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: CallbackHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookMessage> {
  const message = await verified(rawBody, headers, secrets, options);
  if (typeof message?.['type'] !== 'string' || !isObject(message['data']))
    throw new CallbackError('body_invalid', 'It is signed well, and its body is no message.');
  // The cast is safe: the signature shows that the service wrote this body.
  return message as object as WebhookMessage;
}

/** Returns the JSON object of a body whose signatures are right; undefined for other bodies. */
async function verified(
  rawBody: string | Uint8Array,
  headers: CallbackHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const keys = keysOf(typeof secrets === 'string' ? secrets.split(',') : secrets);
  const body = typeof rawBody === 'string' ? utf8(rawBody) : ownBytes(rawBody);
  const read = readerOf(headers);
  const present = [OWN, STANDARD].filter(({ signature }) => read(signature) !== null);
  if (present.length === 0)
    throw new CallbackError(
      'header_missing',
      `The callback has neither ${OWN.signature} nor ${STANDARD.signature}: it is not signed.`,
    );
  for (const scheme of present) await verifyScheme(scheme, { body, read, keys, options });
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

interface Callback {
  readonly body: Bytes;
  readonly read: (name: string) => string | null;
  readonly keys: readonly Bytes[];
  readonly options: VerifyOptions;
}

async function verifyScheme(
  { id, timestamp, signature, signed, signatures }: Scheme,
  { body, read, keys, options }: Callback,
): Promise<void> {
  const needed = (name: string): string => {
    const value = read(name);
    if (value === null || value === '')
      throw new CallbackError('header_missing', `The header ${name} is missing.`);
    return value;
  };
  const time = needed(timestamp);
  const text = utf8(signed(needed(id), time));
  assertAge(timestamp, time, options);
  const bytes = new Uint8Array(text.length + body.length);
  bytes.set(text);
  bytes.set(body, text.length);
  for (const bytesOfSignature of signatures(needed(signature)))
    for (const key of keys)
      // `verify` compares in constant time.
      if (
        await subtle().verify('HMAC', await importHmacKey(key, ['verify']), bytesOfSignature, bytes)
      )
        return;
  throw new CallbackError(
    'no_match',
    `No signature in ${signature} matches this body with any of the secrets.`,
  );
}

function assertAge(header: string, text: string, options: VerifyOptions): void {
  const { toleranceSeconds = 300, now = Math.floor(Date.now() / 1000) } = options;
  // With NaN, both comparisons below would be false and every age would pass.
  if (!(toleranceSeconds >= 0) || Number.isNaN(now))
    throw new ClientUsageError('toleranceSeconds and now must be numbers of seconds.');
  if (!/^\d{1,12}$/.test(text))
    throw new CallbackError('timestamp_invalid', `${header} is not a time in seconds.`);
  const age = now - Number(text);
  if (age > toleranceSeconds)
    throw new CallbackError(
      'too_old',
      `The callback was signed ${String(age)} s ago; it may be a replay.`,
    );
  if (-age > toleranceSeconds)
    throw new CallbackError(
      'too_early',
      `The callback's time is ${String(-age)} s in the future; one of the two clocks is wrong.`,
    );
}

function readerOf(headers: CallbackHeaders): (name: string) => string | null {
  if ('get' in headers && typeof headers.get === 'function') {
    const { get } = headers;
    return (name) => get.call(headers, name);
  }
  const byName = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
  );
  return (name) => {
    const value: unknown = byName.get(name);
    // A header that was sent several times is joined, as `fetch` does, and must still be valid.
    if (Array.isArray(value) && value.length > 0) return value.join(', ');
    return typeof value === 'string' ? value : null;
  };
}

/** Returns the key bytes of each secret: the text's bytes, or the decoded base64 after `whsec_`. */
function keysOf(secrets: readonly string[]): readonly Bytes[] {
  if (secrets.length === 0) throw new ClientUsageError('verifyCallback needs a secret.');
  return secrets.map((secret, place) => {
    const refused = new ClientUsageError(
      `Secret ${String(place + 1)} is empty, or has no base64 after whsec_.`,
    );
    if (secret === '') throw refused;
    if (!secret.startsWith('whsec_')) return utf8(secret);
    try {
      const key = fromBase64(secret.slice('whsec_'.length));
      if (key.length > 0) return key;
    } catch {
      // Not base64: the error below does not quote the secret.
    }
    throw refused;
  });
}

function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
