/**
 * A movement under an approval rule, as callers of the API see it: who may approve, what is
 * missing, and that it runs once enough people have approved.
 */
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { namedMovements } from '../../domain/approval/named-movements.ts';
import { startApprovalDesk, type ApprovalDesk } from '../support/approval-desk.ts';
import {
  alone,
  approval,
  auditOfRequest,
  create,
  detail,
  expectRefusal,
  gate,
  movementBody,
  must,
  noop,
  reaches,
  registered,
  run,
  sendAs,
  sql,
  timeline,
  type CreatedView,
  type TemplateView,
} from '../support/http.ts';
import { issueKey, tool } from '../support/tool.ts';
import { PAYER, reassignment, wrongPayment } from '../support/wrong-payment.ts';

alone(PAYER);

let template: TemplateView;
let desk: ApprovalDesk;
let eve: SigningKey;
beforeAll(async () => {
  template = await registered([noop('a')]);
  desk = await startApprovalDesk('test-desk', ['ann', 'bob'], template.template_key);
  eve = await issueKey('--client-name', 'eve', '--key-id', 'eve', '--role', 'operator');
});
afterAll(() => desk?.close());
const ann = (): SigningKey | undefined => desk.keys[0];
const bob = (): SigningKey | undefined => desk.keys[1];

interface Approvals {
  readonly required: readonly { readonly received: number; readonly missing: number }[];
  readonly decisions: readonly { readonly person: string; readonly counts: boolean }[];
  readonly you: {
    readonly may: boolean;
    readonly why_not: string | null;
    readonly approved: boolean;
  };
}
const as = (person: SigningKey | undefined): SigningKey => {
  if (person === undefined) throw new Error('there is no such person');
  return person;
};
const approveAs = (
  person: SigningKey | undefined,
  movement: { movement_id: string; compiled_plan_hash: string },
) =>
  sendAs<{ request_state: string; approvals?: Approvals }>(
    as(person),
    'POST',
    `/movements/${movement.movement_id}/approve`,
    approval(movement),
  );

test('two people approve it, each once; everybody sees what is missing', async () => {
  const movement = await create(template);
  const path = `/movements/${movement.movement_id}`;
  const before = await must(
    200,
    sendAs<{ approvals: Approvals }>(as(ann()), 'GET', `${path}/approvers`),
  );
  expect(before).toMatchObject({
    approvals: {
      rules: ['test-desk'],
      required: [{ rule: 'test-desk', group: 'test-desk', threshold: 2, received: 0, missing: 2 }],
      decisions: [],
      you: { may: true, why_not: null },
    },
    approvers: [
      { person: 'ann', name: 'Ann', may: true, decided_at: null, counts: false },
      { person: 'bob', name: 'Bob', may: true, decided_at: null, counts: false },
    ],
  });
  for (let again = 0; again < 2; again += 1)
    expect(await must(200, approveAs(ann(), movement))).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      reservation_status: 'none',
      approvals: {
        required: [{ received: 1, missing: 1 }],
        decisions: [{ person: 'ann', counts: true }],
      },
    });
  // The shared key of the tests belongs to no person: it sees the same, and may not decide.
  expect(await detail(movement.movement_id)).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    approvals: {
      required: [{ received: 1, missing: 1 }],
      you: { may: false, why_not: 'no_person' },
    },
  });
  const approved = await must(200, approveAs(bob(), movement));
  expect(approved.request_state).toBe('APPROVED');
  expect(approved.approvals).toBeUndefined();
  await reaches(movement.movement_id, 'COMPLETED');
  const events = (await timeline(movement.movement_id)).map(({ event_type }) => event_type);
  expect(events.filter((each) => each === 'approval_recorded')).toHaveLength(1);
  expect(events.filter((each) => each === 'request_approved')).toHaveLength(1);
});

test('an approval is withdrawn while it waits, and counts no longer; that of others stays', async () => {
  const movement = await create(template);
  const { movement_id } = movement;
  const withdrawAs = (person: SigningKey | undefined) =>
    sendAs<{ request_state: string; approvals?: Approvals }>(
      as(person),
      'POST',
      `/movements/${movement_id}/withdraw-approval`,
      {},
    );
  const hasNone = async (person: SigningKey | undefined) =>
    expectRefusal(await withdrawAs(person), 409, 'no_approval', { movement_id });
  await hasNone(ann());
  await hasNone(eve);
  expect((await must(200, approveAs(ann(), movement))).approvals?.you).toMatchObject({
    approved: true,
  });
  expect(await must(200, withdrawAs(ann()))).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    approvals: {
      required: [{ received: 0, missing: 2 }],
      decisions: [],
      you: { may: true, approved: false },
    },
  });
  await hasNone(ann());
  expect(await must(200, approveAs(bob(), movement))).toMatchObject({
    request_state: 'PENDING_APPROVAL',
    approvals: { required: [{ missing: 1 }], decisions: [{ person: 'bob', counts: true }] },
  });
  await hasNone(ann());
  expect((await must(200, approveAs(ann(), movement))).request_state).toBe('APPROVED');
  await reaches(movement_id, 'COMPLETED');
  expectRefusal(await withdrawAs(ann()), 409, 'invalid_state', {
    current_state: 'COMPLETED',
    allowed_states: ['PENDING_APPROVAL'],
  });
  const events = (await timeline(movement_id)).map(({ event_type }) => event_type);
  expect(events.filter((each) => each.startsWith('approval_'))).toEqual([
    'approval_recorded',
    'approval_withdrawn',
    'approval_recorded',
  ]);
  const { out } = await tool(['audit', 'decisions']);
  const { all } = JSON.parse(out) as {
    all: readonly { subject_id?: string; decision?: string; proves: string; fault: unknown }[];
  };
  const own = all.filter(({ subject_id }) => subject_id === movement_id);
  expect(own.map(({ decision }) => decision).sort()).toEqual([
    'approve',
    'approve',
    'approve',
    'withdraw',
  ]);
  for (const each of own) expect(each).toMatchObject({ proves: 'shared_secret', fault: null });
});

test('what a compromised key has approved needs a person until it has ended', async () => {
  const [ruled, free] = [await registered([gate('check')]), await registered([gate('check')])];
  const own = await startApprovalDesk('stolen-desk', ['ida', 'jon'], ruled.template_key);
  const [ida, jon] = own.keys.map(as);
  const [runs, waits, alone] = [await create(ruled), await create(ruled), await create(free)];
  const resume = `/movements/${runs.movement_id}/actions/resume`;
  interface Printed {
    readonly was: string;
    readonly compromised: Readonly<Record<string, unknown>>;
  }
  interface Reported {
    readonly subject_id?: string;
    readonly person: string;
    readonly compromised: boolean;
  }
  const compromised = async (...more: readonly string[]) => {
    const args = ['--key-id', as(ida).keyId, '--compromised', ...more];
    const { status, out, err } = await tool(['keys', 'revoke', ...args]);
    expect([status, err]).toEqual([0, '']);
    return JSON.parse(out) as Printed;
  };
  const marks = () =>
    sql(
      `SELECT details ->> 'since' AS since FROM audit_events
       WHERE action = 'api_key.compromise' AND entity_key = $1`,
      [as(ida).keyId],
    );
  try {
    for (const who of [ida, jon]) await must(200, approveAs(who, runs));
    for (const movement of [waits, alone]) await must(200, approveAs(ida, movement));
    for (const { movement_id } of [runs, alone])
      await reaches(movement_id, 'WAITING_MANUAL_ACTION');
    const change = await must(202, sendAs<RequestedChange>(as(ida), 'POST', resume));
    expect(await tool(['keys', 'revoke', '--key-id', as(ida).keyId])).toMatchObject({ status: 0 });
    const none = { count: 0, ids: [] };
    await sleep(10);
    // Since a time after all that it decided: nothing of it is in doubt.
    const later = new Date().toISOString();
    expect(await compromised('--since', later)).toMatchObject({
      was: 'revoked',
      compromised: { since: later, movements_in_attention: none, withdrawn_change_requests: [] },
    });
    expect(await detail(runs.movement_id)).toMatchObject({ attention: { reason: 'manual_gate' } });
    const found = {
      was: 'revoked',
      compromised: {
        approvals_that_count_no_longer: 1,
        movements_in_attention: { count: 2, ids: [runs.movement_id, alone.movement_id] },
        applied_change_requests: none,
        withdrawn_change_requests: [change.change_request_id],
        ended_sessions: 0,
        actions: { 'approval_decision.record': 2, 'movement.approve': 1 },
      },
    };
    expect(await compromised('--reason', 'the laptop is gone')).toMatchObject(found);
    expect(await marks()).toHaveLength(2);
    // A repeat changes nothing, nor does a later time; the request has ended.
    for (const more of [[], ['--since', new Date().toISOString()]])
      expect(await compromised(...more)).toMatchObject({
        compromised: { ...found.compromised, withdrawn_change_requests: [] },
      });
    expect(await marks()).toHaveLength(2);
    // It is no fault of the record.
    const { out } = await tool(['audit', 'decisions']);
    const { all } = JSON.parse(out) as { all: readonly Reported[] };
    const isOwn = ({ subject_id }: Reported) => subject_id === runs.movement_id;
    expect(
      Object.fromEntries(all.filter(isOwn).map((each) => [each.person, each.compromised])),
    ).toEqual({ ida: true, jon: false });
    const verified = JSON.parse((await tool(['audit', 'verify'])).out) as {
      decisions: { faults: readonly Reported[] };
    };
    expect(verified.decisions.faults.filter(isOwn)).toEqual([]);
    for (const { movement_id } of [runs, alone])
      expect(await detail(movement_id)).toMatchObject({
        attention: {
          reason: 'approval_compromised',
          message: expect.stringMatching(/compromised.* The gate check waits for a person/),
          node_key: 'check',
          actions: expect.arrayContaining([expect.objectContaining({ action: 'resume' })]),
        },
      });
    expect(await detail(waits.movement_id)).toMatchObject({ attention: { reason: 'approval' } });
    const request = `/change-requests/${change.change_request_id}`;
    expect(await must(200, sendAs(as(jon), 'GET', request))).toMatchObject({
      state: 'withdrawn',
      ended_by: 'fundadmin:tool',
    });
    // It goes on as before, and needs no person once it has ended.
    await must(200, sendAs(eve, 'POST', `/movements/${alone.movement_id}/actions/resume`));
    await reaches(alone.movement_id, 'COMPLETED');
    expect(await detail(alone.movement_id)).toMatchObject({ attention: null });
  } finally {
    await own.close();
  }
  expect(
    await tool(['keys', 'revoke', '--key-id', as(ida).keyId, '--since', '2026-01-01']),
  ).toMatchObject({ status: 2, err: expect.stringContaining('--compromised') });
});

test('a rule is tried on what was, and holds for nothing meanwhile', async () => {
  const of = await registered([noop('a')]);
  const from = new Date(Date.now() - 1_000).toISOString();
  const alone = await run(of, 'COMPLETED');
  const waiting = await create(of);
  const own = await startApprovalDesk('try-desk', ['ruth', 'sam'], of.template_key);
  const both = await create(of);
  try {
    for (const key of own.keys) await must(200, approveAs(key, both));
  } finally {
    await own.close();
  }
  const file = join(tmpdir(), `rule-${randomUUID()}.json`);
  const tried = async (rule: object) => {
    writeFileSync(file, JSON.stringify(rule));
    const to = new Date(Date.now() + 60_000).toISOString();
    const args = ['--file', file, '--from', from, '--to', to];
    const { status, out, err } = await tool(['approval-rules', 'try', ...args]);
    expect(err).toBe('');
    expect(status).toBe(0);
    return JSON.parse(out) as {
      readonly would: object;
      readonly listed: readonly { movement_id: string; would: string; people: string[] }[];
    };
  };
  const rule = {
    when: { template_keys: [of.template_key] },
    require: [{ group: 'try-desk', threshold: 2 }],
  };
  try {
    const { would, listed } = await tried(rule);
    expect(would).toEqual({ waits: 0, stopped: 1, passes: 1, unchanged: 1 });
    expect(listed.map(({ movement_id, would, people }) => [movement_id, would, people])).toEqual([
      [alone.movement_id, 'stopped', []],
      [waiting.movement_id, 'unchanged', []],
      [both.movement_id, 'passes', ['ruth', 'sam']],
    ]);
    const when = { ...rule.when, outflow_above: [{ asset: '*', amount: '999999999' }] };
    expect((await tried({ ...rule, when })).listed).toEqual([]);
  } finally {
    rmSync(file);
  }
  expect((await must(200, approveAs(eve, waiting))).request_state).toBe('APPROVED');
});

interface RequestedChange {
  readonly change_request_id: string;
  readonly kind: string;
  readonly hash: string;
  readonly state: string;
}

const approveChange = (who: SigningKey | undefined, { change_request_id, hash }: RequestedChange) =>
  sendAs<RequestedChange>(as(who), 'POST', `/change-requests/${change_request_id}/approve`, {
    hash,
  });

describe('what leads a movement on waits for its people', () => {
  const people = ['dan', 'fio', 'gil'];
  let calls = 0;
  /**
   * Makes the call under a rule for these templates, and lets two other people approve it. Returns
   * what the call would have changed, before and after the last approval.
   */
  async function requested<T>(
    templateKeys: readonly string[],
    path: string,
    body: object | undefined,
    shows: () => Promise<T>,
  ): Promise<readonly [T, T]> {
    calls += 1;
    const names = people.map((name) => `${name}-${String(calls)}`);
    const own = await startApprovalDesk('action-desk', names, '', {
      when: { template_keys: templateKeys },
    });
    const [dan, fio, gil] = own.keys.map(as);
    try {
      const call = () => sendAs<RequestedChange>(as(dan), 'POST', path, body);
      const change = await must(202, call());
      const { change_request_id } = change;
      expect(change.kind).toBe('movement_action');
      expect((await must(202, call())).change_request_id).toBe(change_request_id);
      expectRefusal(await approveChange(dan, change), 403, 'approver_excluded', {
        change_request_id,
        why: 'initiator',
      });
      // By these hashes clients check what they show to whoever approves it.
      const { subject, before: found } = await must(
        200,
        sendAs<{ readonly subject: string; readonly before: unknown }>(
          as(fio),
          'GET',
          `/change-requests/${change_request_id}`,
        ),
      );
      const named = namedMovements(subject, found) ?? [];
      expect(named).not.toEqual([]);
      for (const { movement_id, plan_hash } of named)
        expect(await detail(movement_id)).toMatchObject({ compiled_plan_hash: plan_hash });
      expect((await must(200, approveChange(fio, change))).state).toBe('open');
      const before = await shows();
      expect((await must(200, approveChange(gil, change))).state).toBe('applied');
      return [before, await shows()];
    } finally {
      await own.close();
    }
  }

  test('to open a gate', async () => {
    const of = await registered([gate('check'), noop('after')]);
    const { movement_id } = await run(of, 'WAITING_MANUAL_ACTION');
    const [before] = await requested(
      [of.template_key],
      `/movements/${movement_id}/actions/resume`,
      undefined,
      async () => (await detail(movement_id)).request_state,
    );
    expect(before).toBe('WAITING_MANUAL_ACTION');
    await reaches(movement_id, 'COMPLETED');
  });

  test('to retry', async () => {
    const of = await registered([noop('a', { risk_patch: { max_amount: '1' } })]);
    const { movement_id } = await run(of, 'FAILED');
    const attempt = async () => (await detail(movement_id)).nodes[0]?.attempt;
    const path = `/movements/${movement_id}/actions/retry`;
    expect(await requested([of.template_key], path, undefined, attempt)).toEqual([1, 2]);
    await reaches(movement_id, 'FAILED');
  });

  test.each(['holder', 'target'] as const)('to reassign, by a rule for the %s', async (which) => {
    const made = await wrongPayment();
    const { holder, target } = made;
    const { template_key } = (await detail(made[which])) as unknown as { template_key: string };
    const [before] = await requested(
      [template_key],
      `/movements/${holder}/nodes/arrive/actions/reassign`,
      reassignment(target),
      async () => (await detail(target)).request_state,
    );
    expect(before).toBe('EXECUTING');
    await reaches(target, 'COMPLETED');
  });

  /** Runs `work` under a rule for this template: two of four people. */
  async function withFour(
    name: string,
    templateKey: string,
    work: (people: readonly SigningKey[]) => Promise<void>,
  ): Promise<void> {
    const names = ['dan', 'fio', 'gil', 'hal'].map((person) => `${person}-${name}`);
    const own = await startApprovalDesk(`${name}-desk`, names, templateKey);
    try {
      await work(own.keys);
    } finally {
      await own.close();
    }
  }

  test('and who made the movement does not count, nor does who wants it led on', async () => {
    const of = await registered([gate('check'), noop('after')]);
    await withFour('maker', of.template_key, async ([dan, fio, gil, hal]) => {
      const made = await must(
        201,
        sendAs<CreatedView>(as(fio), 'POST', '/movements', movementBody(of)),
      );
      for (const who of [dan, gil]) await must(200, approveAs(who, made));
      await reaches(made.movement_id, 'WAITING_MANUAL_ACTION');
      const resume = `/movements/${made.movement_id}/actions/resume`;
      const change = await must(202, sendAs<RequestedChange>(as(dan), 'POST', resume));
      for (const who of [dan, fio])
        expectRefusal(await approveChange(who, change), 403, 'approver_excluded', {
          change_request_id: change.change_request_id,
          why: 'initiator',
        });
      expect((await must(200, approveChange(gil, change))).state).toBe('open');
      expect((await must(200, approveChange(hal, change))).state).toBe('applied');
      await reaches(made.movement_id, 'COMPLETED');
    });
  });

  test('and an approval leads no later attempt on', async () => {
    const of = await registered([noop('a', { risk_patch: { max_amount: '1' } })]);
    const { movement_id } = await run(of, 'FAILED');
    await withFour('attempt', of.template_key, async ([dan, fio, gil, hal]) => {
      const retry = `/movements/${movement_id}/actions/retry`;
      const wanted = (who: SigningKey | undefined) =>
        must(202, sendAs<RequestedChange>(as(who), 'POST', retry));
      const [first, second] = [await wanted(dan), await wanted(fio)];
      expect(second.change_request_id).not.toBe(first.change_request_id);
      for (const change of [first, second])
        expect((await must(200, approveChange(gil, change))).state).toBe('open');
      expect((await must(200, approveChange(hal, first))).state).toBe('applied');
      await reaches(movement_id, 'FAILED');
      expectRefusal(await approveChange(hal, second), 409, 'change_outdated', {
        change_request_id: second.change_request_id,
      });
      expect((await detail(movement_id)).nodes[0]?.attempt).toBe(2);
    });
  });
});

test('who is no person, or made it, may not approve; the audit has it, and anybody may reject', async () => {
  const movement = await create(template);
  const refused = await approveAs(eve, movement);
  expectRefusal(refused, 403, 'approver_excluded', {
    movement_id: movement.movement_id,
    why: 'no_person',
  });
  expect(await auditOfRequest(refused.headers.get('x-request-id') ?? '')).toMatchObject([
    { action: 'movement.approve', outcome: 'denied' },
  ]);
  await must(
    200,
    sendAs(as(eve), 'POST', `/movements/${movement.movement_id}/reject`, { reason: 'not ours' }),
  );
  expect((await detail(movement.movement_id)).request_state).toBe('REJECTED');
});
