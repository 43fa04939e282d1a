/** Challenges for passkeys, and what is verified of an assertion before a decision is stored. */
import type { z } from 'zod';
import {
  readStatement,
  STATEMENT_SECONDS,
  statementText,
  type Decided,
} from '../../domain/approval/evidence.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { newToken } from '../../platform/one-time.ts';
import {
  challengeOf,
  relyingParty,
  verifyAssertion,
  type StoredAssertion,
} from '../../platform/passkeys.ts';
import { readStoredAssertion } from '../../store/decisions.ts';
import { readSigning, type Signing } from '../../store/passkeys.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { assertionBody, challengeResponse } from './schema.ts';

type About = Pick<Decided, 'kind' | 'id' | 'hash'>;

/** Returns the statement that the caller's person signs to approve this, and its challenge. */
export async function challengeFor(
  about: About,
  { caller }: Requester,
  deps: ApiDependencies,
): Promise<z.input<typeof challengeResponse>> {
  const signing = await readSigning(deps.db, caller.client_id);
  const person = personIn(signing, about.id);
  const statement = statementText({
    ...about,
    decision: 'approve',
    person,
    deployment: signing.deployment,
    nonce: newToken(),
    at: new Date(signing.now_ms).toISOString(),
  });
  return challengeView(statement, signing, deps);
}

/** Returns a challenge as the wire has it. */
export function challengeView(
  statement: string,
  { now_ms, passkeys }: Signing,
  deps: ApiDependencies,
): z.input<typeof challengeResponse> {
  return {
    statement,
    challenge: challengeOf(statement),
    rp_id: relyingParty(originOf(deps)),
    credential_ids: passkeys.map(({ credential_id }) => credential_id),
    expires_at: new Date(now_ms + STATEMENT_SECONDS * 1000).toISOString(),
  };
}

/**
 * Returns the assertion as it is stored, verified against this decision; null without one. Throws
 * `assertion_refused`. A used one, and a counter, are looked at where the decision is stored.
 */
export async function evidenceOf(
  about: About,
  assertion: z.output<typeof assertionBody> | undefined,
  { caller }: Requester,
  deps: ApiDependencies,
): Promise<StoredAssertion | null> {
  if (assertion === undefined) return null;
  const signing = await readSigning(deps.db, caller.client_id);
  const { passkeys, deployment, now_ms } = signing;
  const verified = await verifyAssertion(assertion, {
    decided: { ...about, decision: 'approve', person: personIn(signing, about.id) },
    deployment,
    nowMs: now_ms,
    passkey: passkeys.find((each) => each.credential_id === assertion.credential_id) ?? null,
    origin: originOf(deps),
  });
  if (!('problem' in verified)) return verified;
  // A repeat of what was taken in its time, because its answer was lost.
  if (verified.problem === 'statement_expired') {
    const nonce = readStatement(assertion.statement)?.nonce ?? '';
    const stored = await readStoredAssertion(deps.db, about.id, caller.client_id, nonce);
    if (stored?.signature === assertion.signature) return stored;
  }
  throw new ServiceError('assertion_refused', { context: { why: verified.problem } });
}

/** Returns the console's origin. */
export function originOf({ consoleOrigin }: ApiDependencies): string {
  if (consoleOrigin === undefined) throw new Error('this API has no console for passkeys');
  return consoleOrigin();
}

/** Returns the caller's person, or throws `approver_excluded`. */
function personIn({ person }: Signing, id: string): string {
  if (person === null)
    throw new ServiceError('approver_excluded', { context: { id, why: 'no_person' } });
  return person;
}
