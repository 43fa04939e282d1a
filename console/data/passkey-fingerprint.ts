/**
 * The fingerprint by which people compare a passkey, made in this browser from the key that its
 * authenticator made. A service that stored another key could return a fingerprint that fits it.
 */
import { sha256, utf8 } from '../../clients/http/bytes.ts';
import { groupsOf } from '../../clients/http/sign.ts';
import { toBase64url } from './base64url.ts';

/** Where the id of a new credential begins: after hash, flags, counter, model and its length. */
const ID_AT = 32 + 1 + 4 + 16 + 2;

/**
 * Returns the fingerprint of a new credential, four groups of four digits, from its authenticator
 * data (https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data). Throws for data without a
 * credential.
 */
export async function passkeyFingerprint(authenticatorData: ArrayBuffer): Promise<string> {
  const view = new DataView(authenticatorData);
  const keyAt = ID_AT + view.getUint16(ID_AT - 2);
  const id = authenticatorData.slice(ID_AT, keyAt);
  // Extensions may follow the key.
  const key = authenticatorData.slice(keyAt, endOf(view, keyAt));
  const text = `svc-passkey-fingerprint\n${toBase64url(id)}\n${toBase64url(key)}`;
  return groupsOf(await sha256(utf8(text)));
}

/** Returns where the CBOR item at `at` ends: a number, bytes, a text, or a map of these. */
function endOf(view: DataView, at: number): number {
  const head = view.getUint8(at);
  const { value, next } = argumentOf(view, at, head & 31);
  let end = next;
  switch (head >> 5) {
    case 0:
    case 1:
      break;
    case 2:
    case 3:
      end += value;
      break;
    case 5:
      for (let item = 0; item < 2 * value; item += 1) end = endOf(view, end);
      break;
    default:
      throw new RangeError('A key has no such part.');
  }
  if (end > view.byteLength) throw new RangeError('The key is longer than the data.');
  return end;
}

/** Returns the number in the head of a CBOR item, and where the head ends. */
function argumentOf(view: DataView, at: number, small: number) {
  if (small < 24) return { value: small, next: at + 1 };
  if (small === 24) return { value: view.getUint8(at + 1), next: at + 2 };
  if (small === 25) return { value: view.getUint16(at + 1), next: at + 3 };
  throw new RangeError('A key has no part of such a length.');
}
