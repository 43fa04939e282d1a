/**
 * Approvals with passkeys, as callers see them: what the service could make up does not count under
 * a rule that wants passkeys, whatever is wrong with an assertion is named, a worker sends nothing
 * on approvals that do not verify, and anybody can verify them later.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { startApprovalDesk, type ApprovalDesk } from '../support/approval-desk.ts';
import { makePasskey, type Misbehaves, type SoftPasskey } from '../support/authenticator.ts';
import {
  approval,
  create,
  detail,
  expectRefusal,
  gate,
  must,
  noop,
  reaches,
  registered,
  sendAs,
  shared,
  sql,
  type CreatedView,
  type TemplateView,
} from '../support/http.ts';
import { issueKey, tool } from '../support/tool.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { proveApproval } from '../../store/decisions.ts';

const ORIGIN = `http://localhost:${new URL(shared.apiUrl).port}`;

let template: TemplateView;
let desk: ApprovalDesk;
const passkeys = new Map<string, SoftPasskey>();
beforeAll(async () => {
  template = await registered([noop('a')]);
  desk = await startApprovalDesk('passkey-desk', ['pia', 'quin'], template.template_key, {
    evidence: 'passkey',
  });
}, 120_000);
afterAll(() => desk?.close());

const keyOf = (person: string): SigningKey => {
  const key = desk.keys[['pia', 'quin'].indexOf(person)];
  if (key === undefined) throw new Error(`${person} has no key`);
  return key;
};

interface Challenge {
  readonly statement: string;
  readonly challenge: string;
  readonly credential_ids: readonly string[];
  readonly rp_id: string;
}
interface Approved {
  readonly request_state: string;
  readonly approvals?: {
    readonly required: readonly { readonly missing: number }[];
    readonly decisions: readonly { readonly person: string; readonly evidence: string }[];
  };
}

const challengeOf = (person: string, { movement_id }: CreatedView) =>
  must(
    200,
    sendAs<Challenge>(keyOf(person), 'POST', `/movements/${movement_id}/challenge`, {
      decision: 'approve',
    }),
  );

const approveWith = (key: SigningKey, movement: CreatedView, assertion?: object) =>
  sendAs<Approved>(key, 'POST', `/movements/${movement.movement_id}/approve`, {
    ...approval(movement),
    ...(assertion === undefined ? {} : { assertion }),
  });

/** An assertion of the person's passkey over the movement's statement. */
async function assertionOf(
  person: string,
  movement: CreatedView,
  misbehaves?: Misbehaves,
): Promise<Record<string, string>> {
  const own = passkeys.get(person);
  if (own === undefined) throw new Error(`${person} has no passkey`);
  return own.assert(await challengeOf(person, movement), misbehaves);
}

/** Makes a passkey for the person at the API; returns the fingerprint that the page shows. */
async function offered(person: string, counter?: number): Promise<string> {
  const ceremony = await must(200, sendAs<Challenge>(keyOf(person), 'POST', '/passkeys/challenge'));
  const made = makePasskey(ceremony, ORIGIN, counter);
  passkeys.set(person, made);
  const { fingerprint } = await must(
    201,
    sendAs<{ fingerprint: string }>(keyOf(person), 'POST', '/passkeys', made.offer),
  );
  return fingerprint;
}

/** Above every counter that was used so far. */
let highest = 10_000;
const over = (): Misbehaves => ({ counter: (highest += 1) });

const revoked = async (person: string) => {
  const id = passkeys.get(person)?.credential_id ?? '';
  expect(await tool(['passkeys', 'revoke', '--credential', id])).toMatchObject({ status: 0 });
};

const confirmed = async (person: string, fingerprint: string) => {
  const args = ['--person', person, '--fingerprint', fingerprint] as const;
  expect(await tool(['passkeys', 'confirm', ...args])).toMatchObject({ status: 0 });
};

test('a passkey counts once an administrator has confirmed its fingerprint', async () => {
  const movement = await create(template);
  const approvers = `/movements/${movement.movement_id}/approvers`;
  const mayPia = async () =>
    (await must(200, sendAs<{ approvals: { you: object } }>(keyOf('pia'), 'GET', approvers)))
      .approvals.you;
  expect(await mayPia()).toEqual({
    ...{ may: false, why_not: 'no_passkey', evidence: 'any', approved: false },
  });
  const fingerprint = await offered('pia');
  expect(await mayPia()).toMatchObject({ may: false, why_not: 'no_passkey' });
  expect(
    (await tool(['passkeys', 'confirm', '--person', 'quin', '--fingerprint', fingerprint])).err,
  )
    // Another person's page cannot be taken for it.
    .toMatch(/quin has made no passkey with this fingerprint/);
  await confirmed('pia', fingerprint);
  // A repeat is the same.
  await confirmed('pia', fingerprint);
  expect(await mayPia()).toEqual({
    ...{ may: true, why_not: null, evidence: 'passkey', approved: false },
  });
  await confirmed('quin', await offered('quin'));
});

test('what is no passkey of this page and person is not taken', async () => {
  const key = keyOf('pia');
  const start = () => must(200, sendAs<Challenge>(key, 'POST', '/passkeys/challenge'));
  const refused = async (offer: object, why: string) =>
    expectRefusal(await sendAs(key, 'POST', '/passkeys', offer), 422, 'passkey_refused', { why });
  await refused(makePasskey(await start(), 'http://evil.example').offer, 'not_verified');
  const ceremony = await start();
  const made = makePasskey(ceremony, ORIGIN).offer;
  await refused({ ...made, statement: `${ceremony.statement}x` }, 'statement_expired');
  const foreign = ceremony.statement.replace('\npia\n', '\nquin\n');
  await refused({ ...made, statement: foreign }, 'other_statement');
  await refused({ ...made, statement: (await start()).statement }, 'not_verified');
});

test('whatever is wrong with an assertion is named, and approves nothing', async () => {
  const movement = await create(template);
  const [other, pia] = [await create(template), keyOf('pia')];
  expectRefusal(await approveWith(pia, movement), 422, 'passkey_required', {
    movement_id: movement.movement_id,
  });
  const refused = async (assertion: object, why: string) =>
    expectRefusal(await approveWith(pia, movement, assertion), 403, 'assertion_refused', { why });
  await refused(
    await assertionOf('pia', movement, { origin: 'http://evil.example' }),
    'other_origin',
  );
  await refused(await assertionOf('pia', movement, { crossOrigin: true }), 'other_origin');
  await refused(
    await assertionOf('pia', movement, { relyingParty: 'evil.example' }),
    'other_relying_party',
  );
  await refused(await assertionOf('pia', movement, { isVerified: false }), 'user_not_verified');
  await refused(await assertionOf('pia', movement, { type: 'webauthn.create' }), 'malformed');
  await refused(
    await assertionOf('pia', movement, { statement: 'something else' }),
    'other_statement',
  );
  await refused(await assertionOf('pia', other), 'other_subject');
  const whole = await assertionOf('pia', movement);
  const last = whole['signature']?.endsWith('A') === true ? 'B' : 'A';
  await refused(
    {
      ...whole,
      client_data_json: whole['client_data_json'],
      signature: `${String(whole['signature']).slice(0, 40)}${last}`,
    },
    'bad_signature',
  );
  // A key of one's own is not enrolled, nor does it become so by taking an enrolled one's id.
  const stray = makePasskey(await challengeOf('pia', movement), ORIGIN);
  const signed = stray.assert(await challengeOf('pia', movement));
  await refused(signed, 'unknown_credential');
  await refused({ ...signed, credential_id: passkeys.get('pia')?.credential_id }, 'bad_signature');
  await refused(
    { ...(await assertionOf('pia', movement)), credential_id: passkeys.get('quin')?.credential_id },
    'unknown_credential',
  );
  // Statements that the service did not make, signed by the right passkey.
  const { statement } = await challengeOf('pia', movement);
  const lines = statement.split('\n');
  const with_ = (line: number, value: string) =>
    lines.map((each, index) => (index === line ? value : each)).join('\n');
  for (const [text, why] of [
    [with_(0, 'svc-approval/2'), 'malformed'],
    [with_(1, randomUUID()), 'other_deployment'],
    [with_(2, 'change_request'), 'other_subject'],
    [with_(4, 'f'.repeat(64)), 'other_hash'],
    [with_(5, 'reject'), 'other_decision'],
    [with_(6, 'quin'), 'other_person'],
    [with_(8, new Date(Date.now() - 301_000).toISOString()), 'statement_expired'],
    [with_(8, new Date(Date.now() + 60_000).toISOString()), 'statement_expired'],
    [with_(8, 'now'), 'malformed'],
    [with_(7, 'short'), 'malformed'],
  ] as const)
    await refused(
      passkeys.get('pia')?.assert({ statement: text, challenge: '' }, { statement: text }) ?? {},
      why,
    );
  expect((await detail(movement.movement_id)).request_state).toBe('PENDING_APPROVAL');
  const rows = await sql('SELECT FROM approval_decisions WHERE subject_id = $1::uuid', [
    movement.movement_id,
  ]);
  expect(rows).toEqual([]);
});

test('two people approve with their passkeys, and it runs', async () => {
  const movement = await create(template);
  const assertion = await assertionOf('pia', movement);
  for (let again = 0; again < 2; again += 1)
    expect(await must(200, approveWith(keyOf('pia'), movement, assertion))).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      approvals: {
        required: [{ missing: 1 }],
        decisions: [{ person: 'pia', evidence: 'passkey' }],
      },
    });
  const last = await approveWith(keyOf('quin'), movement, await assertionOf('quin', movement));
  expect(last).toMatchObject({ status: 200, body: { request_state: 'APPROVED' } });
  await reaches(movement.movement_id, 'COMPLETED');
});

test('a used assertion, and a counter that went back, are refused', async () => {
  const [movement, second] = [await create(template), await create(template)];
  const key = await issueKey(
    ...['--client-name', 'quin', '--key-id', `quin-${randomUUID()}`],
    ...['--role', 'operator'],
  );
  const assertion = await assertionOf('quin', movement);
  await must(200, approveWith(key, movement, assertion));
  // The decision counts no longer with its key; the assertion does not bring it back.
  expect(await tool(['keys', 'revoke', '--key-id', key.keyId])).toMatchObject({ status: 0 });
  expectRefusal(await approveWith(keyOf('quin'), movement, assertion), 403, 'assertion_refused', {
    movement_id: movement.movement_id,
    why: 'replayed',
  });
  // Nor does it bring back what the person has withdrawn.
  const withdrawn = await assertionOf('pia', movement);
  await must(200, approveWith(keyOf('pia'), movement, withdrawn));
  const withdraw = `/movements/${movement.movement_id}/withdraw-approval`;
  await must(200, sendAs(keyOf('pia'), 'POST', withdraw, {}));
  expectRefusal(await approveWith(keyOf('pia'), movement, withdrawn), 403, 'assertion_refused', {
    movement_id: movement.movement_id,
    why: 'replayed',
  });
  for (const counter of [0, 1, 2])
    expectRefusal(
      await approveWith(keyOf('quin'), second, await assertionOf('quin', second, { counter })),
      403,
      'assertion_refused',
      { movement_id: second.movement_id, why: 'counter_went_back' },
    );
  await must(
    200,
    approveWith(keyOf('quin'), second, await assertionOf('quin', second, { counter: 900 })),
  );
});

async function clientOf(person: string): Promise<{ client_id: string }> {
  const [row] = await sql<{ client_id: string }>(
    'SELECT identity AS client_id FROM person_identities WHERE person = $1',
    [person],
  );
  if (row === undefined) throw new Error(`${person} has no identity`);
  return row;
}

/** Runs statements as somebody who has taken the database over: no trigger looks. */
const asIntruder = (...statements: readonly string[]) =>
  sql(['SET session_replication_role = replica', ...statements].join(';\n'));

interface Verified {
  readonly ok: boolean;
  readonly decisions: { readonly faults: readonly { decision_id: string; fault: unknown }[] };
}
async function faultsOf(...ids: readonly string[]): Promise<readonly unknown[]> {
  const { out, status } = await tool(['audit', 'verify']);
  const { decisions, ok } = JSON.parse(out) as Verified;
  const own = decisions.faults.filter(({ decision_id }) => ids.includes(decision_id));
  if (own.length > 0) expect([ok, status]).toEqual([false, 1]);
  return own;
}

/**
 * Stores a decision as the service's role may: with the id of the person's passkey, and no
 * signature of it. Returns its id.
 */
async function forge(movement: CreatedView, person: string): Promise<string> {
  const decision_id = randomUUID();
  const { client_id } = await clientOf(person);
  const forged = {
    ...passkeys.get('pia')?.assert(await challengeOf(person, movement)),
    credential_id: passkeys.get(person)?.credential_id,
    nonce: randomUUID(),
    counter: 1_000,
  };
  await sql(
    `INSERT INTO approval_decisions (decision_id, subject_id, person, identity, hash, at, evidence)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5, svc_now(), $6::jsonb)`,
    [
      ...[decision_id, movement.movement_id, person, client_id, movement.compiled_plan_hash],
      JSON.stringify(forged),
    ],
  );
  return decision_id;
}

test('an approval with assertions that somebody else made up sends nothing', async () => {
  const movement = await create(template);
  const decision_id = await forge(movement, 'quin');
  const done = await approveWith(keyOf('pia'), movement, await assertionOf('pia', movement));
  expect(done).toMatchObject({ status: 200, body: { request_state: 'APPROVED' } });
  await reaches(movement.movement_id, 'FAILED');
  expect(await detail(movement.movement_id)).toMatchObject({
    nodes: [{ state: 'FAILED', error_code: 'APPROVAL_NOT_PROVEN' }],
  });
  expect(await faultsOf(decision_id)).toEqual([
    expect.objectContaining({ decision_id, proves: null, fault: 'invented' }),
  ]);
  await asIntruder(`DELETE FROM approval_decisions WHERE decision_id = '${decision_id}'`);
});

test('a decision that is altered, removed or invented is found without the service', async () => {
  const movement = await create(template);
  await must(200, approveWith(keyOf('pia'), movement, await assertionOf('pia', movement)));
  const [row] = await sql<{ decision_id: string; kept: string }>(
    `SELECT decision_id, to_jsonb(d)::text AS kept FROM approval_decisions d
     WHERE subject_id = $1::uuid`,
    [movement.movement_id],
  );
  if (row === undefined) throw new Error('there is no decision');
  const { decision_id, kept } = row;
  const { out } = await tool(['audit', 'decisions']);
  const { all } = JSON.parse(out) as { all: readonly { decision_id: string }[] };
  expect(all.find((each) => each.decision_id === decision_id)).toMatchObject({
    ...{ person: 'pia', subject_id: movement.movement_id, proves: 'passkey', fault: null },
  });
  const remove = `DELETE FROM approval_decisions WHERE decision_id = '${decision_id}'`;
  const putBack = `INSERT INTO approval_decisions SELECT * FROM jsonb_populate_record(
    NULL::approval_decisions, '${kept}')`;
  const alter = (set: string) =>
    `UPDATE approval_decisions SET ${set} WHERE decision_id = '${decision_id}'`;
  try {
    for (const [set, fault] of [
      [`reason = 'another one'`, 'changed'],
      [`hash = repeat('e', 64)`, 'changed'],
      [`person = 'quin'`, 'changed'],
      [`key_id = 'another'`, 'changed'],
      [`decision = 'withdraw'`, 'changed'],
      ['evidence = NULL', 'changed'],
      [`at = at + interval '1 second'`, 'changed'],
    ] as const) {
      await asIntruder(alter(set));
      expect(await faultsOf(decision_id)).toEqual([expect.objectContaining({ fault })]);
      await asIntruder(remove, putBack);
    }
    await asIntruder(remove);
    expect(await faultsOf(decision_id)).toEqual([expect.objectContaining({ fault: 'removed' })]);
    await asIntruder(putBack);
    // The public key is another one: the assertion proves nothing then.
    const key = `UPDATE passkeys SET public_key = (SELECT public_key FROM passkeys
      WHERE person = 'quin' LIMIT 1) WHERE person = 'pia'`;
    const [own] = await sql<{ public_key: string }>(
      `SELECT public_key FROM passkeys WHERE person = 'pia'`,
    );
    await asIntruder(key);
    expect(await faultsOf(decision_id)).toEqual([
      expect.objectContaining({ fault: { assertion: 'bad_signature' } }),
    ]);
    await asIntruder(
      `UPDATE passkeys SET public_key = '${own?.public_key ?? ''}' WHERE person = 'pia'`,
    );
  } finally {
    await asIntruder(remove, putBack);
  }
  expect(await faultsOf(decision_id)).toEqual([]);
});

test('of several rules for passkeys each needs assertions that verify, and the plan its hash', async () => {
  const of = await registered([noop('a'), noop('b')]);
  const rule = (name: string, threshold: number) =>
    sql(
      `INSERT INTO approval_rules (name, rule, revision, created_at, updated_at)
       SELECT $1, rule || jsonb_build_object('when', jsonb_build_object('template_keys',
         jsonb_build_array($2::text)), 'require', jsonb_build_array(jsonb_build_object(
         'group', 'passkey-desk', 'threshold', $3::integer))), 1, svc_now(), svc_now()
       FROM approval_rules WHERE name = 'passkey-desk'`,
      [name, of.template_key, threshold],
    );
  await rule('passkeys-a', 1);
  await rule('passkeys-b', 2);
  try {
    const movement = await create(of);
    await forge(movement, 'quin');
    await must(200, approveWith(keyOf('pia'), movement, await assertionOf('pia', movement)));
    await reaches(movement.movement_id, 'FAILED');
    const nodes = expect.arrayContaining([
      expect.objectContaining({ error_code: 'APPROVAL_NOT_PROVEN' }),
    ]) as unknown;
    expect(await detail(movement.movement_id)).toMatchObject({ nodes });
    const db = connectDatabase({ url: shared.databaseUrl, poolSize: 1 });
    const whole = await create(of);
    for (const person of ['pia', 'quin'])
      await must(200, approveWith(keyOf(person), whole, await assertionOf(person, whole, over())));
    await reaches(whole.movement_id, 'COMPLETED');
    expect(await proveApproval(db, whole.movement_id)).toBe(whole.compiled_plan_hash);
    const plan = (change: string) =>
      asIntruder(
        `UPDATE movement_nodes SET own_plan = own_plan ${change}
         WHERE movement_id = '${whole.movement_id}' AND node_key = 'b'`,
      );
    await plan(`|| '{"x": 1}'`);
    expect(await proveApproval(db, whole.movement_id)).toBeNull();
    await plan(`- 'x'`);
    await db.$disconnect();
  } finally {
    await sql(`DELETE FROM approval_rules WHERE name IN ('passkeys-a', 'passkeys-b')`);
  }
});

test('a passkey that does not count is taken, until it counts', async () => {
  await revoked('pia');
  await confirmed('pia', await offered('pia', 0));
  const tried = async (counter: number) => {
    const movement = await create(template);
    const assertion = await assertionOf('pia', movement, { counter });
    return approveWith(keyOf('pia'), movement, assertion);
  };
  for (const counter of [0, 0, 5]) expect((await tried(counter)).status).toBe(200);
  for (const counter of [0, 4, 5])
    expect(await tried(counter)).toMatchObject({
      status: 403,
      body: { detail: { why: 'counter_went_back' } },
    });
});

test('a passkey that is revoked counts no longer', async () => {
  const movement = await create(template);
  await must(
    200,
    approveWith(keyOf('quin'), movement, await assertionOf('quin', movement, over())),
  );
  const id = passkeys.get('quin')?.credential_id ?? '';
  expect(await tool(['passkeys', 'revoke', '--credential', id])).toMatchObject({ status: 0 });
  const shown = await must(
    200,
    sendAs<Approved>(keyOf('pia'), 'GET', `/movements/${movement.movement_id}/approvers`),
  );
  expect(shown.approvals?.required).toMatchObject([{ missing: 2 }]);
  const again = await tool(['passkeys', 'revoke', '--credential', id]);
  expect(again).toMatchObject({ status: 1 });
});

test('what a compromised passkey approved counts no longer under any rule, and needs a person', async () => {
  const [one, two] = [await registered([gate('check')]), await registered([noop('a')])];
  const rule = (name: string, templateKey: string, threshold: number) =>
    sql(
      `INSERT INTO approval_rules (name, rule, revision, created_at, updated_at)
       SELECT $1, rule || jsonb_build_object('evidence', 'any', 'when',
         jsonb_build_object('template_keys', jsonb_build_array($2::text)), 'require',
         jsonb_build_array(jsonb_build_object('group', 'passkey-desk', 'threshold',
           $3::integer))), 1, svc_now(), svc_now()
       FROM approval_rules WHERE name = 'passkey-desk'`,
      [name, templateKey, threshold],
    );
  await rule('any-one', one.template_key, 1);
  await rule('any-two', two.template_key, 2);
  try {
    const [runs, waits] = [await create(one), await create(two)];
    for (const movement of [runs, waits])
      await must(
        200,
        approveWith(keyOf('pia'), movement, await assertionOf('pia', movement, over())),
      );
    await reaches(runs.movement_id, 'WAITING_MANUAL_ACTION');
    const missing = async () =>
      (
        await must(
          200,
          sendAs<Approved>(keyOf('quin'), 'GET', `/movements/${waits.movement_id}/approvers`),
        )
      ).approvals?.required;
    // Under a rule that wants no passkey, what a revoked one signed counts on with its key.
    await revoked('pia');
    expect(await missing()).toMatchObject([{ missing: 1 }]);
    const id = passkeys.get('pia')?.credential_id ?? '';
    const compromised = async (...more: readonly string[]) => {
      const args = ['--credential', id, '--compromised', ...more];
      const { status, out } = await tool(['passkeys', 'revoke', ...args]);
      expect(status).toBe(0);
      return JSON.parse(out) as object;
    };
    await sleep(10);
    // What it approved before it was lost counts on.
    const since = new Date().toISOString();
    expect(await compromised('--since', since)).toMatchObject({
      compromised: {
        since,
        approvals_that_count_no_longer: 0,
        movements_in_attention: { count: 0, ids: [] },
      },
    });
    expect(await missing()).toMatchObject([{ missing: 1 }]);
    expect(await compromised('--reason', 'it was copied')).toMatchObject({
      person: 'pia',
      compromised: { movements_in_attention: { count: 1, ids: [runs.movement_id] } },
    });
    expect(await missing()).toMatchObject([{ missing: 2 }]);
    expect(await detail(runs.movement_id)).toMatchObject({
      attention: { reason: 'approval_compromised' },
    });
  } finally {
    await sql(`DELETE FROM approval_rules WHERE name IN ('any-one', 'any-two')`);
  }
  expect(
    await tool(['passkeys', 'revoke', '--credential', 'no-such', '--compromised']),
  ).toMatchObject({ status: 1, err: expect.stringContaining('There is no passkey') });
});
