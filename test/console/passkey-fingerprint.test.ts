/** The fingerprint that the page makes from a new key is the one that `fundadmin` compares. */
import { passkeyFingerprint } from '../../console/data/passkey-fingerprint.ts';
import * as service from '../../platform/passkeys.ts';
import { makePasskey } from '../support/authenticator.ts';

const ORIGIN = 'http://localhost:3000';
/** Where `authData` begins in an attestation object of the format `none`. */
const AUTH_DATA_AT = 1 + 4 + 5 + 8 + 1 + 9 + 3;

test('both ends make the same of each key, also with extensions behind it', async () => {
  for (let count = 0; count < 20; count += 1) {
    const statement = `svc-passkey/1\nx\nann\n${String(count)}\n2026-11-28T09:00:00.000Z`;
    const ceremony = { statement, challenge: service.challengeOf(statement) };
    const { offer } = makePasskey(ceremony, ORIGIN);
    const sent = offer as {
      statement: string;
      client_data_json: string;
      attestation_object: string;
    };
    const made = await service.verifyRegistration(sent, ORIGIN);
    if (made === null) throw new Error('the passkey was not taken');
    const object = Buffer.from(sent.attestation_object, 'base64url');
    const data = Uint8Array.from(object.subarray(AUTH_DATA_AT));
    const shown = service.passkeyFingerprint(made);
    expect(await passkeyFingerprint(data.buffer)).toBe(shown);
    // {"credProtect": 2} in CBOR.
    const extended = Buffer.concat([data, Buffer.from('a16b6372656450726f7465637402', 'hex')]);
    expect(await passkeyFingerprint(Uint8Array.from(extended).buffer)).toBe(shown);
  }
});

test('a credential that is cut off has none', async () => {
  // An id of two bytes, and of a map of one pair only its first key.
  const cut = Buffer.alloc(32 + 1 + 4 + 16 + 2 + 2 + 2);
  cut.writeUInt16BE(2, 53);
  cut.set([0xa1, 0x01], 57);
  const data = Uint8Array.from(cut);
  await expect(passkeyFingerprint(data.buffer)).rejects.toThrow(RangeError);
});
