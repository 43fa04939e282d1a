/**
 * An authenticator in software: makes passkeys and assertions as a browser hands them over
 * (https://www.w3.org/TR/webauthn-3/), and can misbehave.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const base64url = (data: string | Buffer): string => Buffer.from(data).toString('base64url');

export interface Ceremony {
  readonly statement: string;
  readonly challenge: string;
}

/** What differs from a browser that behaves. */
export interface Misbehaves {
  readonly origin?: string;
  readonly relyingParty?: string;
  readonly crossOrigin?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  /** Signs this text's hash in place of the challenge. */
  readonly statement?: string;
  readonly type?: string;
}

export interface SoftPasskey {
  readonly credential_id: string;
  /** The body of `POST passkeys`. */
  readonly offer: object;
  assert(ceremony: Ceremony, misbehaves?: Misbehaves): Record<string, string>;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

function authenticatorData(relyingParty: string, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([sha256(relyingParty), Buffer.from([flags]), count]);
}

/** The COSE form of a P-256 key (RFC 9053), in CBOR. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' }) as { x?: string; y?: string };
  return Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);
}

/** CBOR of `{"fmt": "none", "attStmt": {}, "authData": data}`. */
function attestationObject(data: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length);
  return Buffer.concat([
    ...[Buffer.from('a363', 'hex'), Buffer.from('fmt'), Buffer.from('64', 'hex')],
    ...[Buffer.from('none'), Buffer.from('67', 'hex'), Buffer.from('attStmt')],
    ...[Buffer.from('a068', 'hex'), Buffer.from('authData'), Buffer.from('59', 'hex')],
    ...[length, data],
  ]);
}

/** Makes a passkey for this origin. Its counter goes up with each assertion from `first`. */
export function makePasskey(ceremony: Ceremony, origin: string, first = 1): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  const host = new URL(origin).hostname;
  let counter = first;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(id.length);
  const made = Buffer.concat([
    authenticatorData(host, USER_PRESENT | USER_VERIFIED | HAS_CREDENTIAL, counter),
    ...[Buffer.alloc(16), length, id, coseKey(publicKey)],
  ]);
  return {
    credential_id: base64url(id),
    offer: {
      statement: ceremony.statement,
      client_data_json: base64url(
        JSON.stringify({
          type: 'webauthn.create',
          challenge: ceremony.challenge,
          origin,
          crossOrigin: false,
        }),
      ),
      attestation_object: base64url(attestationObject(made)),
    },
    assert: ({ statement, challenge }, misbehaves = {}) => {
      counter += 1;
      const client = Buffer.from(
        JSON.stringify({
          type: misbehaves.type ?? 'webauthn.get',
          challenge:
            misbehaves.statement === undefined
              ? challenge
              : base64url(sha256(misbehaves.statement)),
          origin: misbehaves.origin ?? origin,
          crossOrigin: misbehaves.crossOrigin ?? false,
        }),
      );
      const data = authenticatorData(
        misbehaves.relyingParty ?? host,
        USER_PRESENT | (misbehaves.isVerified === false ? 0 : USER_VERIFIED),
        misbehaves.counter ?? counter,
      );
      return {
        credential_id: base64url(id),
        statement,
        client_data_json: base64url(client),
        authenticator_data: base64url(data),
        signature: base64url(sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)),
      };
    },
  };
}
