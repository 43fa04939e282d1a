/** An assertion is verified by the time of its decision, and by the passkey as it was then. */
import { statementText } from '../../domain/approval/evidence.ts';
import { challengeOf, verifyRegistration } from '../../platform/passkeys.ts';
import { assertionProblem, type SignedDecision } from '../../store/decisions.ts';
import { makePasskey } from '../support/authenticator.ts';

const ORIGIN = 'http://localhost:3000';
const HASH = 'a'.repeat(64);
/** An hour ago and so many seconds. */
const at = (seconds: number): string =>
  new Date(Date.parse('2026-11-28T09:00:00.000Z') + seconds * 1000).toISOString();

/** A decision that ann made at `at(1)` with a passkey that is in force. */
async function decision(): Promise<SignedDecision> {
  const enrolment = `svc-passkey/1\nhere\nann\n${'n'.repeat(32)}\n${at(-60)}`;
  const made = makePasskey({ statement: enrolment, challenge: challengeOf(enrolment) }, ORIGIN);
  const key = await verifyRegistration(made.offer as never, ORIGIN);
  if (key === null) throw new Error('the passkey was not taken');
  const statement = statementText({
    ...{ deployment: 'here', kind: 'movement', id: 'one', hash: HASH, decision: 'approve' },
    ...{ person: 'ann', nonce: 'N'.repeat(32), at: at(0) },
  });
  const signed = made.assert({ statement, challenge: challengeOf(statement) });
  return {
    ...{ decision_id: 'd', subject_id: 'one', kind: 'movement', hash: HASH, at: at(1) },
    decision: 'approve',
    compromised: false,
    ...{ person: 'ann', identity: 'i', key_id: null, reason: null, is_persons: true },
    evidence: { ...signed, nonce: 'N'.repeat(32), counter: 2 } as never,
    passkey: { ...key, person: 'ann', origin: ORIGIN, enrolled_at: at(-30), revoked_at: null },
    deployment: 'here',
    audited: { rows: 1, hash: null, same_time: true },
  };
}

test('it proves its decision, whenever it is verified', async () => {
  expect(await assertionProblem(await decision())).toBeNull();
});

test.each<[string, (of: SignedDecision) => Partial<SignedDecision>, string | null]>([
  ['made in the last moment', () => ({ at: at(300) }), null],
  ['made too late', () => ({ at: at(301) }), 'statement_expired'],
  ['made before its statement', () => ({ at: at(-1) }), 'statement_expired'],
  ['of another installation', () => ({ deployment: 'there' }), 'other_deployment'],
  ['of no installation', () => ({ deployment: null }), 'other_deployment'],
  ['about a change request', () => ({ kind: 'change_request' }), 'other_subject'],
  ['about nothing', () => ({ kind: null }), 'other_subject'],
  ['about another movement', () => ({ subject_id: 'two' }), 'other_subject'],
  ['about another plan', () => ({ hash: 'b'.repeat(64) }), 'other_hash'],
  ['of another person', () => ({ person: 'bob' }), 'other_person'],
  ['without an assertion', () => ({ evidence: null }), 'no_assertion'],
  ['with no such passkey', () => ({ passkey: null }), 'unknown_credential'],
  [
    'with a passkey that was revoked later',
    (of) => ({ passkey: { ...passkeyOf(of), revoked_at: at(2) } }),
    null,
  ],
  [
    'with a passkey that was revoked before',
    (of) => ({ passkey: { ...passkeyOf(of), revoked_at: at(1) } }),
    'unknown_credential',
  ],
  [
    'with a passkey that was enrolled later',
    (of) => ({ passkey: { ...passkeyOf(of), enrolled_at: at(2) } }),
    'unknown_credential',
  ],
  [
    "with another person's passkey",
    (of) => ({ passkey: { ...passkeyOf(of), person: 'bob' } }),
    'unknown_credential',
  ],
  [
    'stored with another nonce',
    (of) => ({ evidence: { ...of.evidence, nonce: 'M'.repeat(32) } as never }),
    'malformed',
  ],
  [
    'stored with another counter',
    (of) => ({ evidence: { ...of.evidence, counter: 3 } as never }),
    'malformed',
  ],
  ['stored as anything', () => ({ evidence: { credential_id: 1 } as never }), 'malformed'],
])('a decision %s', async (_what, change, problem) => {
  const whole = await decision();
  expect(await assertionProblem({ ...whole, ...change(whole) })).toBe(problem);
});

function passkeyOf({ passkey }: SignedDecision): NonNullable<SignedDecision['passkey']> {
  if (passkey === null) throw new Error('there is no passkey');
  return passkey;
}
