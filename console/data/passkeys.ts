/**
 * Passkeys of the person at this browser: makes one, and has approvals signed with one. The text
 * that a passkey signs comes from the service, so this page reads it first: only the approval that
 * a sheet shows is signed. Neither this page nor the service has the key itself.
 */
import { subtle, utf8 } from '../../clients/http/bytes.ts';
import { ClientUsageError, UnreachableError } from '../../clients/http/errors.ts';
import type { BodyOf, ResultOf } from '../../clients/http/operations.ts';
import { readStatement, type Decided } from '../../domain/approval/evidence.ts';
import { afterFailure } from './after-failure.ts';
import { fromBase64url, toBase64url } from './base64url.ts';
import { passkeyFingerprint } from './passkey-fingerprint.ts';
import { theClient } from './session.ts';

/** What is approved; `hash`: of the plan, or of the change request's document, as it was shown. */
export type Approved = Pick<Decided, 'kind' | 'id' | 'hash'>;

/** What the service wants to have signed for an approval. */
export type Challenge = ResultOf<'challengeMovementApproval'>;

/** What a passkey has signed, as the body of an approval takes it. */
export type Assertion = NonNullable<BodyOf<'approveMovement'>['assertion']>;

/** A passkey that this browser has offered to the service. It counts once it is confirmed. */
export interface MadePasskey {
  readonly person: string;
  readonly fingerprint: string;
}

const CANCELLED =
  'No passkey answered: the touch was cancelled or took too long. Nothing was sent.';
/** COSE algorithms that the service takes: ES256, EdDSA and RS256. */
const ALGORITHMS = [-7, -8, -257] as const;
/** The text that a new passkey answers: form, deployment, person, nonce and time. */
const ENROLMENT = /^svc-passkey\/1(\n[^\n]+){4}$/;

/**
 * Makes a passkey with an authenticator of this person, and offers it to the service. An error
 * leaves doubt only once the passkey was offered.
 */
export async function makePasskey(): Promise<MadePasskey> {
  const answer = await challenged(() => theClient().call('challengePasskey'));
  const { statement, challenge, rp_id, user_id, user_name, credential_ids } = answer;
  if (!ENROLMENT.test(statement) || challenge !== (await challengeOf(statement)))
    throw new ClientUsageError(
      'The service returned something else to answer than a new passkey does. Nothing was made. Report it.',
    );
  const made = await touched(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { id: rp_id, name: 'Fund movements' },
        user: { id: fromBase64url(user_id), name: user_name, displayName: user_name },
        challenge: fromBase64url(challenge),
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
        attestation: 'none',
        authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
        excludeCredentials: descriptorsOf(credential_ids),
      },
    }),
  );
  const response = made.response as AuthenticatorAttestationResponse;
  // Computed from the key in this browser, not taken from the answer.
  const fingerprint = await fingerprintOf(response);
  const { person } = await theClient().call('offerPasskey', {
    body: {
      statement,
      client_data_json: toBase64url(response.clientDataJSON),
      attestation_object: toBase64url(response.attestationObject),
    },
  });
  return { person, fingerprint };
}

/**
 * Returns what the person's passkey signs about the approval. Throws no error that leaves doubt:
 * nothing is approved yet.
 */
export async function assertionOf(approved: Approved): Promise<Assertion> {
  const { kind, id } = approved;
  const body = { decision: 'approve' } as const;
  const challenge = await challenged(() =>
    kind === 'movement'
      ? theClient().call('challengeMovementApproval', { params: { movement_id: id }, body })
      : theClient().call('challengeChangeRequestApproval', {
          params: { change_request_id: id },
          body,
        }),
  );
  return assertionOver(challenge, approved);
}

/**
 * Has a challenge signed. Throws before a touch is required unless its statement is about exactly
 * this approval, and the challenge is that of the statement.
 */
export async function assertionOver(
  { statement, challenge, rp_id, credential_ids }: Challenge,
  approved: Approved,
): Promise<Assertion> {
  const difference =
    differenceOf(statement, approved) ??
    (challenge === (await challengeOf(statement)) ? null : 'its challenge is of another text');
  if (difference !== null)
    throw new ClientUsageError(
      `The service returned something else to sign than this approval: ${difference}. Nothing was signed, and nothing was sent. Report it.`,
    );
  // Without ids the browser would offer any passkey of this site.
  if (credential_ids.length === 0)
    throw new ClientUsageError(
      'You have no passkey that counts: make one on the page Passkeys. Nothing was sent.',
    );
  const signed = await touched(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: fromBase64url(challenge),
        rpId: rp_id,
        allowCredentials: descriptorsOf(credential_ids),
        userVerification: 'required',
      },
    }),
  );
  const response = signed.response as AuthenticatorAssertionResponse;
  return {
    credential_id: toBase64url(signed.rawId),
    statement,
    client_data_json: toBase64url(response.clientDataJSON),
    authenticator_data: toBase64url(response.authenticatorData),
    signature: toBase64url(response.signature),
  };
}

/** What a machine's clock may differ, and a challenge be old. */
const MOST_OFF_MS = 10 * 60_000;

/** Returns how a statement differs from the approval that it must be; null if it does not. */
function differenceOf(statement: string, { kind, id, hash }: Approved): string | null {
  const read = readStatement(statement);
  if (read === null) return 'it has another form';
  if (read.kind !== kind || read.id !== id) return 'it is about something else';
  if (read.hash !== hash) return 'it names another hash';
  if (read.decision !== 'approve') return 'it is another decision';
  const off = Math.abs(Date.parse(read.at) - Date.now());
  return off <= MOST_OFF_MS ? null : 'its time is not the present';
}

/** Returns the challenge of a statement: its SHA-256 in base64url. */
async function challengeOf(statement: string): Promise<string> {
  return toBase64url(await subtle().digest('SHA-256', utf8(statement)));
}

function descriptorsOf(credential_ids: readonly string[]): PublicKeyCredentialDescriptor[] {
  return credential_ids.map((id) => ({ type: 'public-key', id: fromBase64url(id) }));
}

/** Gets a challenge. A lost answer leaves no doubt: a challenge changes nothing. */
async function challenged<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (afterFailure(error).kind !== 'look_first') throw error;
    const why =
      error instanceof UnreachableError
        ? `No answer from ${error.address}: ${error.why}.`
        : wordsOf(error);
    throw new ClientUsageError(
      `There is nothing for the passkey to sign yet, so nothing was sent. ${why}`,
      { cause: error },
    );
  }
}

/** Waits for a touch. Whatever the browser refuses, nothing was sent. */
async function touched(request: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  let answer: Credential | null;
  try {
    answer = await request();
  } catch (error) {
    throw new ClientUsageError(refusalOf(error), { cause: error });
  }
  if (answer === null) throw new ClientUsageError(CANCELLED);
  // Only public keys were requested.
  return answer as PublicKeyCredential;
}

function refusalOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : null;
  if (name === 'NotAllowedError') return CANCELLED;
  if (name === 'InvalidStateError')
    return 'This authenticator has a passkey of yours already: use another authenticator. Nothing was sent.';
  return `The browser refused the passkey. Nothing was sent. ${wordsOf(error)}`;
}

async function fingerprintOf(response: AuthenticatorAttestationResponse): Promise<string> {
  try {
    return await passkeyFingerprint(response.getAuthenticatorData());
  } catch (error) {
    throw new ClientUsageError(
      'The key of this authenticator cannot be read: use another authenticator or browser. Nothing was sent.',
      { cause: error },
    );
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
