/** Passkeys: what a browser signs to make one, and taking it until an administrator confirms it. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { isInTime } from '../../domain/approval/evidence.ts';
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { newToken } from '../../platform/one-time.ts';
import { passkeyFingerprint, verifyRegistration } from '../../platform/passkeys.ts';
import { offerPasskey, readSigning, type Signing } from '../../store/passkeys.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { challengeView, originOf } from './evidence.ts';
import type { passkeyBody, passkeyChallengeResponse, passkeyResponse } from './schema.ts';

const FORM = 'svc-passkey/1';

/** Returns what the browser needs to make a passkey for the caller's person. */
export async function challenge(
  { requester: { caller } }: { readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof passkeyChallengeResponse>>> {
  const signing = await readSigning(deps.db, caller.client_id);
  const person = personIn(signing);
  const at = new Date(signing.now_ms).toISOString();
  const statement = [FORM, signing.deployment, person, newToken(), at].join('\n');
  return {
    status: 200,
    body: {
      ...challengeView(statement, signing, deps),
      // Authenticators keep one passkey for each user of a site; the id tells no more than that.
      user_id: createHash('sha256').update(`svc-passkey-user\n${person}`).digest('base64url'),
      user_name: person,
    },
  };
}

/** Takes a passkey that the caller's browser made. It counts once it is confirmed. */
export async function offer(
  {
    body,
    requester,
  }: { readonly body: z.output<typeof passkeyBody>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof passkeyResponse>>> {
  const { caller } = requester;
  const signing = await readSigning(deps.db, caller.client_id);
  const person = personIn(signing);
  const subject = {
    action: 'passkey.offer',
    entity_type: 'passkey',
    entity_key: person,
  } as const;
  return auditedRefusal(deps, requester, subject, async () => {
    const [form, deployment, named, , at = ''] = body.statement.split('\n');
    if (form !== FORM || deployment !== signing.deployment || named !== person)
      throw refused('other_statement');
    if (!isInTime(at, signing.now_ms)) throw refused('statement_expired');
    const origin = originOf(deps);
    const made = await verifyRegistration(body, origin);
    if (made === null) throw refused('not_verified');
    const identity = caller.client_id ?? '';
    const created_at = await offerPasskey(deps.db, { ...made, person, identity, origin }, [
      auditOf(requester, { ...subject, entity_key: made.credential_id, details: { person } }),
    ]);
    if (created_at === null) throw refused('other_passkey');
    const fingerprint = passkeyFingerprint(made);
    return {
      status: 201,
      body: { credential_id: made.credential_id, person, fingerprint, created_at },
    };
  });
}

function personIn({ person }: Signing): string {
  if (person === null) throw refused('no_person');
  return person;
}

/**
 * - `no_person`: the caller's identity belongs to no person (`fundadmin people set`);
 * - `other_statement`: the statement is not one that this service makes for the caller;
 * - `statement_expired`: it is older than five minutes;
 * - `not_verified`: the passkey was not made for it, or not at the console, or without verifying
 *   who touched the authenticator;
 * - `other_passkey`: another one has this id.
 */
type Refusal =
  'no_person' | 'other_statement' | 'statement_expired' | 'not_verified' | 'other_passkey';

function refused(why: Refusal): ServiceError {
  return new ServiceError('passkey_refused', { context: { why } });
}
