/**
 * Encrypts what Temporal stores: AES-256-GCM around each whole payload, in the form of Temporal's
 * own sample codecs (nonce, ciphertext, tag; key id in the metadata), so that workers in other
 * languages can decrypt too. See docs/decisions/0007-payload-encryption.md.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { PayloadKey } from './payload-keys.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

export const ENCRYPTED = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A payload that cannot be decrypted; the message says why and quotes no part of the payload. */
export class UndecodablePayload extends Error {
  override readonly name = 'UndecodablePayload';
}

/**
 * Creates a codec that encrypts with the first key and decrypts with any; unencrypted payloads pass
 * unchanged.
 */
export function createPayloadCodec(keys: readonly PayloadKey[]): PayloadCodec {
  const [first] = keys;
  if (first === undefined) throw new Error('a payload codec needs a key');
  const byId = new Map(keys.map((each) => [each.id, each]));
  return {
    encode: (payloads) => Promise.resolve(payloads.map((payload) => seal(payload, first))),
    // Async, so that callers get a rejection and never a synchronous throw.
    decode: async (payloads) =>
      payloads.map((payload) =>
        textOf(payload, 'encoding') === ENCRYPTED ? open(payload, byId) : payload,
      ),
  };
}

function seal(payload: Payload, { id, key }: PayloadKey): Payload {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  const plain = PayloadMessage.encode(payload).finish();
  const data = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return {
    metadata: { encoding: Buffer.from(ENCRYPTED), 'encryption-key-id': Buffer.from(id) },
    data,
  };
}

function open(payload: Payload, keys: ReadonlyMap<string, PayloadKey>): Payload {
  const id = textOf(payload, 'encryption-key-id');
  const known = keys.get(id);
  if (known === undefined) {
    throw new UndecodablePayload(
      `the payload is encrypted with key "${printable(id)}", which SVC_PAYLOAD_KEYS does not hold`,
    );
  }
  const data = payload.data ?? new Uint8Array();
  const end = data.byteLength - TAG_BYTES;
  if (end < NONCE_BYTES) throw new UndecodablePayload('the encrypted payload is cut short');
  try {
    const decipher = createDecipheriv(CIPHER, known.key, data.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(data.subarray(end));
    return PayloadMessage.decode(
      Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, end)), decipher.final()]),
    );
  } catch {
    throw new UndecodablePayload(
      `the payload was altered, or its key "${id}" is not the one of this service`,
    );
  }
}

function textOf(payload: Payload, name: string): string {
  const bytes = payload.metadata?.[name];
  return bytes == null ? '' : Buffer.from(bytes).toString();
}

/** Returns an id from outside in a form that is safe in a message. */
function printable(id: string): string {
  return id.replace(/[^A-Za-z0-9._-]/g, '?').slice(0, 64);
}
