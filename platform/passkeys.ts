/**
 * Passkeys (WebAuthn, https://www.w3.org/TR/webauthn-3/): verifies what a browser made, without the
 * network and without the service's secrets.
 */
import { createHash } from 'node:crypto';
import {
  statementProblem,
  readStatement,
  type AssertionProblem,
  type Decided,
} from '../domain/approval/evidence.ts';
import { groupsOf } from './one-time.ts';

/** An assertion as a browser sends it; all but `statement` in base64url. */
export interface Assertion {
  readonly credential_id: string;
  /** The text whose SHA-256 was the challenge. */
  readonly statement: string;
  readonly client_data_json: string;
  readonly authenticator_data: string;
  readonly signature: string;
}

/** An assertion as it is stored with its decision. */
export interface StoredAssertion extends Assertion {
  readonly nonce: string;
  readonly counter: number;
}

/** A public key that was enrolled for a person. */
export interface Passkey {
  readonly credential_id: string;
  readonly person: string;
  /** The COSE key in base64url. */
  readonly public_key: string;
  /** The origin of the console at which it was made. */
  readonly origin: string;
}

/** What an assertion must be about, and what is known when it is verified. */
export interface Expected {
  readonly decided: Decided;
  /** The installation for which the statement must be made. */
  readonly deployment: string;
  /** When the assertion arrived, in ms since 1970. */
  readonly nowMs: number;
  /** The person's passkey of this id; null: there is none in force. */
  readonly passkey: Passkey | null;
  /** The only origin at which the console is opened. */
  readonly origin: string;
}

/**
 * Verifies that the assertion is evidence of the decision, and returns it as it is stored, or why
 * it is none. Whether it was used before, and whether its counter grew, only the stored decisions
 * tell.
 */
export async function verifyAssertion(
  assertion: Assertion,
  expected: Expected,
): Promise<StoredAssertion | { readonly problem: AssertionProblem }> {
  // That the library cannot be loaded is no fault of the assertion.
  await import('@simplewebauthn/server');
  try {
    return await verified(assertion, expected);
  } catch {
    // What is stored may be anything.
    return { problem: 'malformed' };
  }
}

async function verified(
  assertion: Assertion,
  { decided, deployment, nowMs, passkey, origin }: Expected,
): Promise<StoredAssertion | { readonly problem: AssertionProblem }> {
  const { statement, credential_id: id } = assertion;
  const said = clientData(assertion.client_data_json);
  const authenticated = Buffer.from(assertion.authenticator_data, 'base64url');
  // Hash of the relying party, flags, and counter: the first 37 bytes.
  if (said === null || said.type !== 'webauthn.get' || authenticated.length < 37)
    return { problem: 'malformed' };
  const problem = statementProblem(statement, decided, deployment, nowMs);
  if (problem !== null) return { problem };
  if (said.challenge !== challengeOf(statement)) return { problem: 'other_statement' };
  if (said.origin !== origin || said.crossOrigin === true || said.topOrigin !== undefined)
    return { problem: 'other_origin' };
  if (!sha256(relyingParty(origin)).equals(authenticated.subarray(0, 32)))
    return { problem: 'other_relying_party' };
  const flags = authenticated.readUInt8(32);
  if ((flags & (USER_PRESENT | USER_VERIFIED)) !== (USER_PRESENT | USER_VERIFIED))
    return { problem: 'user_not_verified' };
  if (passkey?.credential_id !== id || passkey.person !== decided.person)
    return { problem: 'unknown_credential' };
  if (passkey.origin !== origin) return { problem: 'other_origin' };
  if (!(await isSigned(assertion, passkey, origin))) return { problem: 'bad_signature' };
  const nonce = readStatement(statement)?.nonce ?? '';
  return { ...assertion, nonce, counter: authenticated.readUInt32BE(33) };
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;

async function isSigned(
  assertion: Assertion,
  { credential_id: id, public_key }: Passkey,
  origin: string,
): Promise<boolean> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  try {
    const answer = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: assertion.client_data_json,
          authenticatorData: assertion.authenticator_data,
          signature: assertion.signature,
        },
      },
      expectedChallenge: challengeOf(assertion.statement),
      expectedOrigin: origin,
      expectedRPID: relyingParty(origin),
      requireUserVerification: true,
      // The counter is compared with the stored decisions, under a lock.
      credential: { id, publicKey: Buffer.from(public_key, 'base64url'), counter: -1 },
    });
    return answer.verified;
  } catch {
    // The library throws for everything that does not fit.
    return false;
  }
}

/** A credential that a browser made, as it is stored until it is confirmed. */
export interface MadePasskey {
  readonly credential_id: string;
  readonly public_key: string;
  readonly counter: number;
}

/**
 * Verifies a new credential (without attestation: people compare its fingerprint instead) that was
 * made at `origin` for this statement; null if it was not.
 */
export async function verifyRegistration(
  made: {
    readonly statement: string;
    readonly client_data_json: string;
    readonly attestation_object: string;
  },
  origin: string,
): Promise<MadePasskey | null> {
  const said = clientData(made.client_data_json);
  if (said === null || said.crossOrigin === true) return null;
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { decodeAttestationObject, parseAuthenticatorData, isoBase64URL } =
    await import('@simplewebauthn/server/helpers');
  try {
    const object = decodeAttestationObject(isoBase64URL.toBuffer(made.attestation_object));
    const { credentialID } = parseAuthenticatorData(object.get('authData'));
    const id = isoBase64URL.fromBuffer(credentialID ?? new Uint8Array());
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: made.client_data_json,
          attestationObject: made.attestation_object,
        },
      },
      expectedChallenge: challengeOf(made.statement),
      expectedOrigin: origin,
      expectedRPID: relyingParty(origin),
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified) return null;
    const { credential } = registrationInfo;
    return {
      credential_id: credential.id,
      public_key: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
    };
  } catch {
    return null;
  }
}

/** COSE algorithms that are taken: ES256, EdDSA and RS256. */
const ALGORITHMS = [-7, -8, -257] as const;

/** Returns the challenge of a statement: its SHA-256 in base64url. */
export function challengeOf(statement: string): string {
  return sha256(statement).toString('base64url');
}

/** Returns the relying party of the console's origin: its host name. */
export function relyingParty(origin: string): string {
  return new URL(origin).hostname;
}

/** Returns the fingerprint by which people compare a passkey: four groups of four digits. */
export function passkeyFingerprint({
  credential_id,
  public_key,
}: Pick<MadePasskey, 'credential_id' | 'public_key'>): string {
  return groupsOf(sha256(`svc-passkey-fingerprint\n${credential_id}\n${public_key}`));
}

interface ClientData {
  readonly type?: unknown;
  readonly challenge?: unknown;
  readonly origin?: unknown;
  readonly crossOrigin?: unknown;
  readonly topOrigin?: unknown;
}

function clientData(encoded: string): ClientData | null {
  try {
    const value = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
