/**
 * Approval rules against a model of people: a movement is approved once, and only once, every rule
 * has enough different people who may approve.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { ApprovalRule } from '../../domain/approval/rule.ts';
import {
  approveAutomatically,
  recordApproval,
  withdrawApproval as withdrawal,
} from '../../domain/commands/approval.ts';
import type { AutoApproveResult } from '../../domain/auto-approve/result.ts';
import { forLateReasons } from '../../domain/auto-approve/checks.ts';
import type { JsonObject } from '../../domain/json.ts';
import { newSnapshot } from '../../domain/snapshot.ts';
import { connectDatabase } from '../../prisma/client.ts';
import {
  changeApprovers,
  decideApproval,
  readApprovals,
  withdrawApproval,
} from '../../store/approvals.ts';
import { markCompromised, type NamedKey } from '../../store/compromised-keys.ts';
import { createApproved, createMovement, type NewMovement } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { runs } from '../support/runs.ts';
import { started } from '../support/started.ts';
import { approvalOf, issuedKey, storeBench } from './support.ts';

const bench = storeBench({ guarded: true });
/** The connections of a second API process. */
const other = started(async () => {
  const db = connectDatabase({ url: bench.url, poolSize: 10, connectTimeoutMs: 60_000 });
  return { db, close: () => db.$disconnect() };
});

const PEOPLE = ['ann', 'bob', 'cid', 'dee', 'eve'];
const GROUPS = ['desk', 'risk', 'board'];
const clientOf = (person: string) => `client-of-${person}`;
const RULE: ApprovalRule = {
  applies_to: 'movement',
  when: {},
  require: [{ group: 'desk', threshold: 1 }],
  initiator_may_approve: false,
  payee_author_may_approve: false,
  template_author_may_approve: false,
  reason_required: false,
};
type Members = Readonly<Record<string, readonly string[]>>;

/** People, groups and rules as these, and no others. */
async function set(members: Members, rules: Readonly<Record<string, ApprovalRule>>): Promise<void> {
  const stale = await bench.sql<{ name: string }>('SELECT name FROM approval_rules');
  await changeApprovers(
    bench.db,
    {
      people: PEOPLE.map((person) => ({ person, name: person, identities: [clientOf(person)] })),
      groups: GROUPS.map((name) => ({ name, members: members[name] ?? [] })),
      rules: [
        ...stale.map(({ name }) => ({ name, remove: true as const })),
        ...Object.entries(rules).map(([name, rule]) => ({ name, rule })),
      ],
    },
    [],
  );
}
afterEach(() => set({}, {}));

async function movementBy(person: string, amount = '3'): Promise<string> {
  const created = await createMovement(bench.db, {
    ...bench.draft({ amount }),
    created_by: { client_id: clientOf(person), key_id: 'k', role: 'operator' },
    payees: [],
    auto_approve_result: null,
  });
  return created.movement_id;
}

const requesterOf = (client_id: string | null) =>
  ({ caller: { client_id, key_id: 'k', role: 'operator' }, request_id: 'r' }) as const;

/** An approval as the API makes it: `approved`, `waits`, or why not. */
async function decide(
  id: string,
  person: string | null,
  {
    db = bench.db,
    hash = 'a'.repeat(64),
    key = 'k',
    reason,
  }: { db?: typeof bench.db; hash?: string; key?: string; reason?: string } = {},
): Promise<string> {
  const identity = person === null ? null : clientOf(person);
  const body = {
    compiled_plan_hash: hash,
    approver_id: 'x',
    ...(reason === undefined ? {} : { reason }),
  };
  const outcome = await decideApproval(db, {
    identity,
    key_id: key,
    reason: reason ?? null,
    evidence: null,
    request_id: 'r',
    approve: { ...approvalOf(id), plan_hash: hash, command: 'approve' },
    record: recordApproval(id, body, requesterOf(identity)),
  });
  if (outcome.ok) return outcome.approvals === undefined ? 'approved' : 'waits';
  return outcome.why ?? outcome.reason;
}

/** A withdrawal as the API makes it: `withdrawn`, or why not. */
async function withdraw(id: string, person: string, key = 'k'): Promise<string> {
  const identity = clientOf(person);
  const outcome = await withdrawApproval(bench.db, {
    identity,
    key_id: key,
    request_id: 'r',
    record: withdrawal(id, 'a'.repeat(64), requesterOf(identity)),
  });
  return outcome.ok ? 'withdrawn' : outcome.reason;
}

/** The people whose approvals of a movement count under its only rule. */
async function counted(id: string): Promise<readonly string[]> {
  const [rule] = (await readApprovals(bench.db, id, null)).rules;
  return (rule?.people ?? []).flatMap(({ person, counts }) => (counts ? [person] : []));
}

const compromised = (key: NamedKey) =>
  markCompromised(bench.db, { ...key, since: null, reason: null }, []);

async function stateOf(id: string): Promise<string | undefined> {
  const [row] = await bench.sql<{ request_state: string }>(
    'SELECT request_state FROM movements WHERE movement_id = $1::uuid',
    id,
  );
  return row?.request_state;
}

/** Whether the people can be shared out so that each group has its number; by trying all ways. */
function enough(
  require: ApprovalRule['require'],
  people: readonly string[],
  members: Members,
): boolean {
  const [first, ...others] = require;
  if (first === undefined) return true;
  if (first.threshold === 0) return enough(others, people, members);
  return people
    .filter((person) => (members[first.group] ?? []).includes(person))
    .some((person) =>
      enough(
        [{ ...first, threshold: first.threshold - 1 }, ...others],
        people.filter((each) => each !== person),
        members,
      ),
    );
}

const members = fc.record(
  Object.fromEntries(GROUPS.map((name) => [name, fc.subarray(PEOPLE)])),
) as fc.Arbitrary<Members>;
const aRule = fc.record({
  require: fc
    .subarray(GROUPS, { minLength: 1 })
    .chain((names) =>
      fc.tuple(
        ...names.map((group) =>
          fc.record({ group: fc.constant(group), threshold: fc.constantFrom(1, 1, 1, 2) }),
        ),
      ),
    ),
  initiator_may_approve: fc.boolean(),
});
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ approve: fc.subarray(PEOPLE, { minLength: 1 }) }) },
  { weight: 1, arbitrary: fc.record({ withdraw: fc.constantFrom(...PEOPLE) }) },
  { weight: 1, arbitrary: fc.record({ members }) },
  { weight: 1, arbitrary: fc.record({ rule: aRule }) },
);

test('never approved with fewer people than each rule asks, and always with enough', async () => {
  let [approved, waited] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      members,
      aRule,
      aRule,
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (first, one, two, steps) => {
        let now: { members: Members; rules: Record<string, ApprovalRule> } = {
          members: first,
          rules: { one: { ...RULE, ...one }, two: { ...RULE, ...two } },
        };
        await set(now.members, now.rules);
        const id = await movementBy('ann');
        // What held when it was created goes on to hold beside what is changed later.
        const kept = Object.values(now.rules);
        const decided = new Set<string>();
        const mayUnder = (rule: ApprovalRule, person: string) =>
          rule.require.some(({ group }) => now.members[group]?.includes(person) === true) &&
          (rule.initiator_may_approve || person !== 'ann');
        let isApproved = false;
        for (const each of steps) {
          if ('withdraw' in each) {
            const had = !isApproved && decided.delete(each.withdraw);
            expect(await withdraw(id, each.withdraw)).toBe(
              isApproved ? 'movement_state' : had ? 'withdrawn' : 'no_approval',
            );
            continue;
          }
          if ('members' in each) now = { ...now, members: each.members };
          else if ('rule' in each)
            now = { ...now, rules: { ...now.rules, one: { ...RULE, ...each.rule } } };
          if (!('approve' in each)) {
            await set(now.members, now.rules);
            continue;
          }
          const rules = [...kept, ...Object.values(now.rules)];
          const may = each.approve.filter((person) => rules.some((rule) => mayUnder(rule, person)));
          // At once, through two processes.
          const said = await Promise.all(
            each.approve.map((person, nr) =>
              decide(id, person, { db: nr % 2 === 0 ? bench.db : other.db }),
            ),
          );
          if (!isApproved) {
            for (const person of may) decided.add(person);
            isApproved =
              may.length > 0 &&
              rules.every((rule) =>
                enough(
                  rule.require,
                  [...decided].filter((person) => mayUnder(rule, person)),
                  now.members,
                ),
              );
            expect(said.filter((word) => word === 'approved')).toHaveLength(isApproved ? 1 : 0);
          }
          expect(await stateOf(id)).toBe(isApproved ? 'APPROVED' : 'PENDING_APPROVAL');
        }
        if (isApproved) approved += 1;
        else waited += 1;
      },
    ),
    { numRuns: runs(40, 120) },
  );
  const least = runs(1, 15);
  expect([approved > least, waited > least]).toEqual([true, true]);
}, 240_000);

test('a thousand approvals at once of a hundred movements count each person once', async () => {
  await set({ desk: PEOPLE }, { four: { ...RULE, require: [{ group: 'desk', threshold: 4 }] } });
  const ids = await Promise.all(Array.from({ length: 100 }, () => movementBy('eve')));
  // Three people, who are not enough, each three times; and whoever made it, who does not count.
  const said = await Promise.all(
    ids.flatMap((id, nr) =>
      ['ann', 'bob', 'cid', 'eve', 'ann', 'bob', 'cid', 'ann', 'bob', 'cid'].map((person) =>
        decide(id, person, { db: nr % 2 === 0 ? bench.db : other.db }),
      ),
    ),
  );
  expect(said.filter((word) => word === 'waits')).toHaveLength(900);
  expect(said.filter((word) => word === 'initiator')).toHaveLength(100);
  expect(
    await bench.sql(
      `SELECT count(*)::integer, count(DISTINCT (subject_id, person))::integer AS pairs
    FROM approval_decisions WHERE subject_id = ANY ($1::uuid[])`,
      ids,
    ),
  ).toEqual([{ count: 300, pairs: 300 }]);
  const last = await Promise.all(ids.map((id) => decide(id, 'dee', { db: other.db })));
  expect(new Set(last)).toEqual(new Set(['approved']));
}, 120_000);

test('whoever is no person, in no group, or whose plan it is, may not; and the answer says why', async () => {
  await set({ desk: ['ann', 'bob'] }, { one: RULE });
  const id = await movementBy('ann');
  expect(await decide(id, null)).toBe('no_person');
  expect(await decide(id, 'stranger')).toBe('no_person');
  expect(await decide(id, 'cid')).toBe('not_in_group');
  expect(await decide(id, 'ann')).toBe('initiator');
  expect(await decide(id, 'bob', { hash: 'b'.repeat(64) })).toBe('plan_hash');
  expect(
    await bench.sql('SELECT 1 FROM approval_decisions WHERE subject_id = $1::uuid', id),
  ).toEqual([]);
  expect(await decide(id, 'bob')).toBe('approved');
});

test('the author of a payee, or of the template, does not count', async () => {
  await set({ desk: ['ann', 'bob', 'cid', 'dee'] }, { one: RULE });
  const address = `0x${randomUUID().replaceAll('-', '').padEnd(40, '0')}`;
  const row = randomUUID();
  const wrote = (actor: string, action: string, key: string) =>
    bench.sql(
      `INSERT INTO audit_events (event_id, occurred_at, actor_client_id, action, entity_type,
        entity_key, outcome, details)
       VALUES (gen_random_uuid(), now(), $1, $2, split_part($2, '.', 1), $3, 'success', '{}')`,
      actor,
      action,
      key,
    );
  await bench.sql(
    `INSERT INTO allowed_addresses (id, chain_family, address, reason, usable_after, created_by,
      created_at, updated_at, active) VALUES ($1::uuid, 'evm', $2, 'r', now(), 'x', now(), now(), true)`,
    row,
    address,
  );
  await wrote(clientOf('bob'), 'allowed_address.set_chain', row);
  // As fundadmin --as records it.
  await wrote('fundadmin:ann', 'allowed_address.set_chain', row);
  await wrote(clientOf('cid'), 'plan_template.update_admin_fields', 'test/store');
  const created = await createMovement(bench.db, {
    ...bench.draft(),
    created_by: { client_id: clientOf('eve') },
    payees: [{ chain_family: 'evm', address, chain_id: 1, strict: false }],
    auto_approve_result: null,
  });
  const id = created.movement_id;
  expect([await decide(id, 'bob'), await decide(id, 'ann'), await decide(id, 'cid')]).toEqual([
    'payee_author',
    'payee_author',
    'template_author',
  ]);
  expect(await decide(id, 'dee')).toBe('approved');
  await bench.sql('ALTER TABLE audit_events DISABLE TRIGGER USER');
  await bench.sql(`DELETE FROM audit_events WHERE entity_key IN ($1, 'test/store')`, row);
  await bench.sql('ALTER TABLE audit_events ENABLE TRIGGER USER');
});

test('no other way of approving passes a rule', async () => {
  await set({ desk: ['bob'] }, { one: RULE });
  const id = await movementBy('ann');
  expect(await applyTransition(bench.db, approvalOf(id))).toMatchObject({ ok: false });
  await expect(bench.approve(id)).rejects.toThrow('approvals_missing');
  expect(await stateOf(id)).toBe('PENDING_APPROVAL');
  // A policy is no person: the movement waits.
  const draft = { ...bench.draft(), created_by: { client_id: clientOf('ann') }, payees: [] };
  expect(await createdBy(draft)).toBe('PENDING_APPROVAL');
  expect(
    await bench.sql(`SELECT auto_approve_result ->> 'reason' AS reason FROM movements
      ORDER BY created_at DESC LIMIT 1`),
  ).toEqual([{ reason: 'approvals_missing' }]);
});

/** The state of a movement that a template's cap would approve. */
async function createdBy(draft: Omit<NewMovement, 'auto_approve_result'>): Promise<string> {
  await bench.sql(`UPDATE plan_templates SET auto_approve_enabled = true, daily_cap_amount = 100000,
    daily_cap_asset = 'USDC'`);
  const result: AutoApproveResult = {
    outcome: 'approved',
    reason: 'free_simple_cap_passed',
    checks: [],
    evaluated_at: '',
  };
  const outcome = await createApproved(
    bench.db,
    { ...draft, auto_approve_result: result },
    {
      transition: (movementId) =>
        approveAutomatically(
          newSnapshot(movementId, draft.plan),
          { compiled_plan_hash: draft.compiled_plan_hash, result },
          requesterOf(clientOf('ann')),
        ),
      guard: {
        template_key: 'test/store',
        daily_cap_amount: '100000',
        daily_cap_asset: 'USDC',
      },
      refused: forLateReasons((reason) => ({
        result: { ...result, outcome: 'pending', reason },
        timeline: [],
      })),
    },
  );
  return outcome.created === true ? outcome.request_state : 'not made';
}

test('a rule with conditions holds for what they name, and limits add up over time', async () => {
  await set(
    { desk: ['bob'] },
    {
      large: {
        ...RULE,
        when: { outflow_above: [{ asset: 'USDC', amount: '10', within_seconds: 600 }] },
      },
      other: { ...RULE, when: { assets: ['BTC'] } },
      elsewhere: { ...RULE, when: { template_keys: ['another'] } },
    },
  );
  const maker = `maker-${randomUUID()}`;
  const held = async (id: string) =>
    (await readApprovals(bench.db, id, null)).rules.map(({ name }) => name);
  const first = await movementBy(maker, '6');
  expect(await held(first)).toEqual([]);
  // Both at once are more than ten, however they are cut; so the first is then held, too.
  const second = await movementBy(maker, '6');
  expect(await held(second)).toEqual(['large']);
  expect(await held(first)).toEqual(['large']);
  expect(await decide(first, 'bob')).toBe('approved');
  const stranger = await movementBy(`maker-${randomUUID()}`, '6');
  expect(await held(stranger)).toEqual([]);
  expect(await decide(stranger, null)).toBe('approved');
});

/** Changes rows as they could stand after a long time. */
async function past(table: string, text: string, ...values: unknown[]): Promise<void> {
  await bench.sql(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await bench.sql(text, ...values);
  await bench.sql(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
}
const DAY: ApprovalRule = {
  ...RULE,
  when: { outflow_above: [{ asset: '*', amount: '10', within_seconds: 86_400 }] },
};

test('of two halves at once the second is seen to be too much', async () => {
  await set({ desk: ['bob'] }, { day: DAY });
  for (let round = 0; round < 10; round += 1) {
    const maker = `maker-${randomUUID()}`;
    const policy = async (): Promise<string> => {
      const draft = {
        ...bench.draft({ amount: '6' }),
        created_by: { client_id: maker },
        payees: [],
      };
      return createdBy(draft);
    };
    const states = await Promise.all([policy(), policy()]);
    expect(states.sort()).toEqual(['APPROVED', 'PENDING_APPROVAL']);
  }
});

test('what has failed may be retried, and what was approved late counts from then', async () => {
  await set({ desk: ['bob'] }, { day: DAY });
  const held = async (id: string) => (await readApprovals(bench.db, id, null)).rules.length;
  const maker = `maker-${randomUUID()}`;
  const [failed, late] = [await movementBy(maker, '6'), await movementBy(maker, '3')];
  await past(
    'movements',
    `UPDATE movements SET request_state = 'FAILED', ended_at = now()
    WHERE movement_id = $1::uuid`,
    failed,
  );
  expect(await held(await movementBy(maker, '2'))).toBe(1);
  await past(
    'movements',
    `UPDATE movements SET created_at = now() - interval '3 days'
    WHERE movement_id IN (SELECT m.movement_id FROM movements m JOIN movement_plans p
      USING (movement_id) WHERE p.created_by ->> 'client_id' = $1)`,
    clientOf(maker),
  );
  const second = await movementBy(maker, '8');
  expect(await held(second)).toBe(0);
  await past(
    'movements',
    `UPDATE movements SET approved_at = now() - interval '1 hour'
    WHERE movement_id = $1::uuid`,
    late,
  );
  expect(await held(second)).toBe(1);
});

test('what a client of before did stays what its person did', async () => {
  await set({ desk: ['ann', 'bob'] }, { one: RULE });
  const id = await movementBy('ann');
  const renewed = { person: 'ann', name: 'Ann', identities: [clientOf('renewed')] };
  await changeApprovers(bench.db, { people: [renewed] }, []);
  expect(await decide(id, 'renewed')).toBe('initiator');
  expect(await decide(id, 'ann')).toBe('no_person');
});

test('an approval by what was taken from its person, or by whoever left, counts no longer', async () => {
  const two: ApprovalRule = { ...RULE, require: [{ group: 'desk', threshold: 2 }] };
  await set({ desk: ['bob', 'cid', 'dee'] }, { one: two });
  const id = await movementBy('ann');
  const countsOf = async () => {
    const [rule] = (await readApprovals(bench.db, id, null)).rules;
    return Object.fromEntries((rule?.people ?? []).map((each) => [each.person, each.counts]));
  };
  expect([await decide(id, 'bob'), await decide(id, 'bob')]).toEqual(['waits', 'waits']);
  expect(await countsOf()).toEqual({ bob: true, cid: false, dee: false });
  const renewed = { person: 'bob', name: 'Bob', identities: [clientOf('renewed')] };
  await changeApprovers(bench.db, { people: [renewed] }, []);
  expect(await countsOf()).toEqual({ bob: false, cid: false, dee: false });
  expect(await decide(id, 'cid')).toBe('waits');
  await changeApprovers(bench.db, { groups: [{ name: 'desk', members: ['bob', 'dee'] }] }, []);
  expect(await countsOf()).toEqual({ bob: false, cid: false, dee: false });
  expect(await decide(id, 'renewed')).toBe('waits');
  expect(await decide(id, 'dee')).toBe('approved');
});

test('a withdrawal takes back the approval of its person alone, while it waits', async () => {
  const three: ApprovalRule = { ...RULE, require: [{ group: 'desk', threshold: 3 }] };
  await set({ desk: ['bob', 'cid', 'dee'] }, { one: three });
  const [id, late] = [await movementBy('ann'), await movementBy('ann')];
  for (const person of ['bob', 'cid']) expect(await decide(id, person)).toBe('waits');
  expect(await withdraw(id, 'cid')).toBe('withdrawn');
  expect(await counted(id)).toEqual(['bob']);
  expect(await decide(id, 'dee')).toBe('waits');
  expect(await decide(id, 'cid')).toBe('approved');
  expect(await withdraw(id, 'cid')).toBe('movement_state');
  expect(await decide(late, 'bob')).toBe('waits');
  await past(
    'movements',
    `UPDATE movements SET expires_at = now() - interval '1 second'
    WHERE movement_id = $1::uuid`,
    late,
  );
  expect(await withdraw(late, 'bob')).toBe('expired');
  // What is refused leaves nothing.
  expect(
    await bench.sql(
      `SELECT subject_id::text AS id, person FROM approval_decisions
      WHERE decision = 'withdraw' AND subject_id = ANY ($1::uuid[])`,
      [id, late],
    ),
  ).toEqual([{ id, person: 'cid' }]);
});

const TWO: ApprovalRule = { ...RULE, require: [{ group: 'desk', threshold: 2 }] };

test('a compromised key counts in nothing that waits, and shows in what it let go', async () => {
  await set({ desk: ['bob', 'cid', 'dee'] }, { one: TWO });
  const key = await issuedKey(bench);
  const [counts, again, later, taken] = [
    await movementBy('ann'),
    await movementBy('ann'),
    await movementBy('ann'),
    await movementBy('ann'),
  ];
  for (const id of [counts, again, later]) expect(await decide(id, 'bob', { key })).toBe('waits');
  expect(await decide(counts, 'cid')).toBe('approved');
  // The same person approves with another key.
  expect(await withdraw(again, 'bob')).toBe('withdrawn');
  expect(await decide(again, 'bob')).toBe('waits');
  expect(await decide(again, 'cid')).toBe('approved');
  // The key takes back what another one approved.
  expect(await decide(taken, 'cid')).toBe('waits');
  expect(await withdraw(taken, 'cid', key)).toBe('withdrawn');
  expect(await counted(taken)).toEqual([]);
  await sleep(10);
  expect(await compromised({ kind: 'api_key', key_id: key })).toMatchObject({
    waiting: 1,
    movements: { count: 1, ids: [counts] },
  });
  expect(await counted(taken)).toEqual(['cid']);
  expect(await withdraw(taken, 'cid')).toBe('withdrawn');
  expect(await counted(taken)).toEqual([]);
  // Two others are enough.
  expect(await counted(later)).toEqual([]);
  expect(await decide(later, 'cid')).toBe('waits');
  expect(await decide(later, 'dee')).toBe('approved');
  const flagged = await bench.sql(
    `SELECT movement_id::text AS id FROM movements m
    WHERE movement_id = ANY ($1::uuid[]) AND approved_by_compromised(m)`,
    [counts, again, later, taken],
  );
  expect(flagged).toEqual([{ id: counts }]);
});

test("an operator's decision is the key's until a minute after its end, or after the next one", async () => {
  await set({ desk: ['bob', 'cid', 'dee'] }, { one: TWO });
  /** A key that was made, and has ended (null: has not), that long ago. */
  const made = async (operator: string, ago: string, ended: string | null): Promise<NamedKey> => {
    const [row] = await bench.sql<{ key_id: string }>(
      `INSERT INTO dashboard_keys (key_id, operator, role, allowlist, replaces, state, code_hash,
        code_until, secret, filled_at, created_at, created_by, confirmed_at, ended_at)
      SELECT gen_random_uuid(), $1::text, 'operator', false, false,
        CASE WHEN $3::text IS NULL THEN 'confirmed' ELSE 'ended' END,
        sha256(gen_random_uuid()::text::bytea), at, '\\x00'::bytea, at, at, 'test', at,
        now() - $3::text::interval
      FROM (SELECT now() - $2::text::interval AS at) x RETURNING key_id::text`,
      operator,
      ago,
      ended,
    );
    return { kind: 'dashboard_key', key_id: row?.key_id ?? '' };
  };
  const [olga, piet] = [{ key: 'dashboard:olga' }, { key: 'dashboard:piet' }];
  const [id, late] = [await movementBy('ann'), await movementBy('ann')];
  const lost = await made('olga', '1 hour', '30 seconds');
  const former = await made('piet', '1 hour', '10 minutes');
  await made('piet', '5 minutes', null);
  // Sent before the key ended, and stored since.
  expect(await decide(id, 'bob', olga)).toBe('waits');
  await compromised(lost);
  expect(await counted(id)).toEqual([]);
  expect(await decide(late, 'bob', olga)).toBe('waits');
  expect(await counted(late)).toEqual([]);
  // What the next key of an operator decides counts.
  expect(await decide(late, 'cid', piet)).toBe('waits');
  await compromised(former);
  expect(await counted(late)).toEqual(['cid']);
  // Sent with the former key, and stored once the next one was confirmed.
  const hanna = { key: 'dashboard:hanna' };
  const replaced = await made('hanna', '1 hour', '40 seconds');
  await made('hanna', '30 seconds', null);
  const third = await movementBy('ann');
  expect(await decide(third, 'dee', hanna)).toBe('waits');
  expect(await counted(third)).toEqual(['dee']);
  await compromised(replaced);
  expect(await counted(third)).toEqual([]);
});

test('each condition holds for what it names', async () => {
  const address = `0x${randomUUID().replaceAll('-', '').padEnd(40, '0')}`;
  const made = async (created_by: JsonObject, more: object): Promise<string> => {
    const draft = { ...bench.draft(), created_by, payees: [], ...more };
    return (await createMovement(bench.db, { ...draft, auto_approve_result: null })).movement_id;
  };
  const payee = { chain_family: 'evm', address, chain_id: 5, strict: false } as const;
  const ids: Readonly<Record<string, string>> = {
    client: await made({ client_id: 'c', role: 'operator' }, { strategy_id: 's1' }),
    agent: await made({ client_id: 'c', role: 'agent' }, {}),
    operator: await made({ client_id: 'dashboard:o', role: 'operator' }, {}),
    payer: await made({ client_id: null, role: 'admin' }, { payees: [payee] }),
    unknown: await made({ client_id: null, role: 'admin' }, { payees: undefined }),
  };
  const holdsFor = async (when: ApprovalRule['when']): Promise<readonly string[]> => {
    await set({ desk: ['bob'] }, { one: { ...RULE, when } });
    const held = [];
    for (const [name, id] of Object.entries(ids))
      if ((await readApprovals(bench.db, id, null)).rules.length > 0) held.push(name);
    return held;
  };
  expect(await holdsFor({ origins: ['agent'] })).toEqual(['agent']);
  expect(await holdsFor({ origins: ['api', 'dashboard'] })).toEqual(['client', 'operator']);
  expect(await holdsFor({ origins: ['service'] })).toEqual(['payer', 'unknown']);
  expect(await holdsFor({ strategy_ids: ['s1'], assets: ['USDC'] })).toEqual(['client']);
  expect(await holdsFor({ outflow_above: [{ asset: '*', amount: '3' }] })).toEqual([]);
  expect(await holdsFor({ outflow_above: [{ asset: '*', amount: '2.999' }] })).toHaveLength(5);
  // Not on the list; then listed a moment ago; then a day ago.
  const fresh = { new_payee_within_seconds: 3_600 };
  expect(await holdsFor(fresh)).toEqual(['payer', 'unknown']);
  await bench.sql(
    `INSERT INTO allowed_addresses (id, chain_family, address, reason, usable_after, created_by,
      created_at, updated_at, active) VALUES (gen_random_uuid(), 'evm', $1, 'r', now(), 'x',
      now(), now(), true)`,
    address,
  );
  expect(await holdsFor(fresh)).toEqual(['payer', 'unknown']);
  await bench.sql(
    `UPDATE allowed_addresses SET updated_at = now() - interval '1 day'
    WHERE address = $1`,
    address,
  );
  expect(await holdsFor(fresh)).toEqual(['unknown']);
});

test('an approval that has expired, or lacks a reason that is required, does not count', async () => {
  await set(
    { desk: ['bob', 'cid'] },
    {
      one: {
        ...RULE,
        require: [{ group: 'desk', threshold: 2 }],
        expires_after_seconds: 60,
        reason_required: true,
      },
    },
  );
  const id = await movementBy('ann');
  expect(await decide(id, 'bob')).toBe('reason_required');
  expect(await decide(id, 'bob', { reason: 'invoice 7' })).toBe('waits');
  await bench.sql('ALTER TABLE approval_decisions DISABLE TRIGGER USER');
  await bench.sql(
    `UPDATE approval_decisions SET at = at - interval '61 seconds' WHERE subject_id = $1::uuid`,
    id,
  );
  await bench.sql('ALTER TABLE approval_decisions ENABLE TRIGGER USER');
  expect(await decide(id, 'cid', { reason: 'seen' })).toBe('waits');
  expect(await decide(id, 'bob', { reason: 'invoice 7, again' })).toBe('approved');
});

test.each(['resume', 'retry', 'resolve'])(
  'a transition by the command %s waits under a rule, whoever writes it',
  async (command_kind) => {
    const id = await movementBy('ann');
    expect(
      await applyTransition(bench.db, { ...approvalOf(id), command: 'approve' }),
    ).toMatchObject({
      ok: true,
    });
    await set({ desk: ['bob'] }, { one: RULE });
    const apply = (more: object = {}) =>
      bench.sql(
        'SELECT apply_transition($1::jsonb) AS answer',
        JSON.stringify({
          movement_id: id,
          command_id: randomUUID(),
          command_kind,
          nodes: [{ node_key: 'pay', states: ['READY'], set: { error_count: 1, ...more } }],
          timeline: [],
          audit: [],
        }),
      );
    await expect(apply()).rejects.toThrow('FM023');
    // Another look at an unknown outcome moves nothing, and only a resume is one.
    const look = apply({ only_look: true });
    if (command_kind === 'resume') expect(await look).toHaveLength(1);
    else await expect(look).rejects.toThrow('FM023');
    // Where something follows because a person resumed, the look starts it.
    await bench.sql('ALTER TABLE movement_plans DISABLE TRIGGER USER');
    await bench.sql(
      `UPDATE movement_plans SET plan_frame = jsonb_set(plan_frame, '{edges}',
        '[{"from": "pay", "to": "after", "edge_type": "on_manual_resume"}]')
        WHERE movement_id = $1::uuid`,
      id,
    );
    await bench.sql('ALTER TABLE movement_plans ENABLE TRIGGER USER');
    await expect(apply({ only_look: true })).rejects.toThrow('FM023');
    await set({}, {});
    expect(await apply()).toMatchObject([{ answer: { ok: true } }]);
  },
);
