/**
 * What needs a person, and why: one request lists it, each detail says what may be done, and doing
 * it has the consequence that was said.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import {
  accepted,
  failed,
  notLanded,
  notNow,
  pending,
  Unavailable,
  unknown,
} from '../../executor-kit/define.ts';
import { serveExecutor } from '../../executor-kit/http.ts';
import { eventually, ownStack } from '../support/own-stack.ts';
import {
  compensation,
  edge,
  gate,
  noop,
  storeTemplate,
  transfer,
  withdrawal,
} from '../support/plans.ts';
import { scriptedDesk, type Script } from '../support/scripted-desk.ts';
import { started } from '../support/started.ts';

interface Attention {
  readonly reason: string;
  readonly message: string;
  readonly node_key: string | null;
  readonly last_answer: string | null;
  readonly attempt: number | null;
  readonly max_attempts: number | null;
  readonly errors: number | null;
  readonly next_look_at: string | null;
  readonly actions: readonly { readonly action: string; readonly consequence: string }[];
}
interface Needing {
  readonly movements: readonly {
    readonly movement_id: string;
    readonly attention_reason: string | null;
  }[];
}

const ASK_SECONDS = 5;
const desk = scriptedDesk();
const served = started(() => serveExecutor(desk.executor, { port: 0, log: () => undefined }));
const own = ownStack({
  env: { SVC_UNPROVEN_ASK_SECONDS: String(ASK_SECONDS), SVC_VENUE_WAIT_ATTENTION_SECONDS: '1' },
  executors: () => [
    {
      executor_key: 'test.scripted',
      kind: 'remote',
      url: served.url,
      action_types: ['scripted'],
      timeout_seconds: 2,
      settle_seconds: 0,
      same_key_safe: true,
      payees: [],
    },
  ],
});

const pay = {
  node_key: 'pay',
  node_kind: 'action',
  action_type: 'scripted',
  executor_selector: { action_type: 'scripted' },
  has_side_effect: true,
  retry_policy: { max_attempts: 3, initial_interval_seconds: 0.1 },
};
const plan = (
  nodes: Parameters<typeof storeTemplate>[1],
  edges: readonly ReturnType<typeof edge>[],
): Promise<string> => storeTemplate(own.api, nodes, { edges, assurance: 'provider_completed' });
const undoable = (): Promise<string> =>
  plan([pay, compensation('undo')], [edge('pay', 'undo', 'on_cancel')]);

async function startMovement(template: string, script: Script): Promise<string> {
  const movement = await own.api.create(template, { amount: '5' });
  desk.say(movement.movement_id, script);
  await own.api.approve(movement);
  return movement.movement_id;
}

const read = async <T>(path: string): Promise<T> =>
  (await own.api.expect(200, 'GET', path)) as unknown as T;
const attentionOf = async (id: string): Promise<Attention | null> =>
  (await read<{ attention: Attention | null }>(`/movements/${id}`)).attention;
const set = (status: string): Promise<unknown> =>
  own.api.expect(200, 'PATCH', '/executors/test.scripted', { status });

/** What a person has to do, once the movement needs one for this reason. */
const asks = (id: string, reason: string): Promise<Attention> =>
  eventually(
    async () => {
      const attention = await attentionOf(id);
      return attention?.reason === reason ? attention : null;
    },
    { what: () => `attention for ${reason}` },
  );
const needing = async (query = ''): Promise<ReadonlyMap<string, string | null>> => {
  const { movements } = await read<Needing>(`/movements?needs_attention=true${query}`);
  return new Map(movements.map((each) => [each.movement_id, each.attention_reason]));
};
const PAGE = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
const [, WHAT_NEEDS_ME = ''] = /\| what needs me, and why\? \| `([^`]+)`/.exec(PAGE) ?? [];
/** Why docs/operations.md's query lists a movement in the Temporal UI, once for each run listed. */
const shown = async (id: string): Promise<readonly string[]> => {
  const found = [];
  for await (const each of own.temporal.workflow.list({ query: WHAT_NEEDS_ME }))
    if ([`movement/${id}`, `attention/${id}`].includes(each.workflowId))
      found.push(String(each.searchAttributes['SvcAttention']?.[0]));
  return found;
};
/** Waits until the Temporal UI lists the movement once, for this reason, or (null) no longer. */
const listed = (id: string, reason: string | null): Promise<true> =>
  eventually(async () => ((await shown(id)).join() === (reason ?? '') ? true : null), {
    what: () => `the UI to show ${String(reason)} of ${id}`,
  });
const offered = ({ actions }: Attention): readonly string[] => actions.map(({ action }) => action);
const consequence = ({ actions }: Attention, action: string): string =>
  actions.find((each) => each.action === action)?.consequence ?? 'not offered';

test('an approval is waited for, more urgently towards its end, and no longer once it is over', async () => {
  const template = await plan([noop('only')], []);
  const { movement_id: id } = await own.api.create(template, { amount: '5', ttl: 36 });
  const first = await asks(id, 'approval');
  expect(first).toMatchObject({ node_key: null, attempt: null, last_answer: null });
  expect(offered(first)).toEqual(['approve', 'reject']);
  expect(consequence(first, 'reject')).toContain('nothing is moved');
  expect((await needing()).get(id)).toBe('approval');
  await listed(id, 'approval');
  await asks(id, 'approval_expires_soon');
  await listed(id, 'approval_expires_soon');
  await own.api.reaches(id, 'EXPIRED');
  await listed(id, null);
  expect(await attentionOf(id)).toBeNull();
  expect((await needing()).has(id)).toBe(false);
}, 120_000);

test('a gate says what its resume begins', async () => {
  const template = await plan([gate('ask'), noop('after')], [edge('ask', 'after')]);
  const id = await startMovement(template, {});
  const attention = await asks(id, 'manual_gate');
  expect(attention).toMatchObject({ node_key: 'ask', last_answer: null, next_look_at: null });
  expect(attention.actions).toEqual([
    {
      action: 'resume',
      node_key: 'ask',
      attempt: 1,
      state: 'READY',
      consequence: 'The gate ask is released, and after begins.',
    },
  ]);
  await listed(id, 'manual_gate');
  await own.api.act('resume', id);
  await own.api.reaches(id, 'COMPLETED');
  expect((await needing()).has(id)).toBe(false);
});

test('an unknown outcome shows the last answer and when the next look is due', async () => {
  const lost: Script = {
    submit: () => {
      throw new Unavailable('the line broke');
    },
    recover: () => unknown('the ledger is closed'),
  };
  const id = await startMovement(await undoable(), lost);
  await own.api.reaches(id, 'MANUAL_INTERVENTION');
  const attention = await asks(id, 'unknown_outcome');
  expect(attention).toMatchObject({ node_key: 'pay', attempt: 1, max_attempts: 3 });
  expect(attention.last_answer).toContain('the ledger is closed');
  expect(offered(attention)).toEqual(['resume', 'retry', 'resolve', 'cancel']);
  await listed(id, 'unknown_outcome');
  expect(consequence(attention, 'retry')).toContain('old key');
  expect(consequence(attention, 'resume')).toContain('nothing is sent');
  expect(consequence(attention, 'cancel')).toContain('then undo may run');

  const next = await eventually(async () => (await asks(id, 'unknown_outcome')).next_look_at, {
    what: () => 'the time of the next look',
  });
  const before = desk.calls(id, 'recover').length;
  const look = Date.parse(next);
  expect(look).toBeGreaterThan(Date.now() - ASK_SECONDS * 1000);
  expect(look).toBeLessThan(Date.now() + (ASK_SECONDS + 2) * 1000);
  // It is called then, and the next time is shown.
  await eventually(
    async () => {
      const { next_look_at } = await asks(id, 'unknown_outcome');
      return next_look_at !== null && Date.parse(next_look_at) > look ? true : null;
    },
    { what: () => 'a later look' },
  );
  expect(desk.calls(id, 'recover').length).toBeGreaterThan(before);

  desk.say(id, { recover: () => notLanded() });
  await own.api.act('retry', id);
  await own.api.reaches(id, 'COMPLETED');
  expect((await needing()).has(id)).toBe(false);
  // What was sent again is said to be when it is, not when it was decided.
  const needs = (await own.api.timeline(id))
    .filter(({ event_type }) => event_type === 'node_submitting' || event_type === 'node_recovered')
    .map(({ message }) => message);
  expect(needs).toEqual([
    'Submitting',
    'Recovered: nothing landed',
    'Submitting again under the same key',
  ]);
}, 90_000);

describe('a person has an unknown outcome looked at', () => {
  const lost: Script = {
    submit: () => {
      throw new Unavailable('the line broke');
    },
    recover: () => unknown('the ledger is closed'),
    observe: () => pending(0.2),
  };
  const unknownOne = async (): Promise<string> => {
    const id = await startMovement(await plan([pay], []), lost);
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    return id;
  };
  const unknowns = async (id: string): Promise<number> =>
    (await own.api.timeline(id)).filter(({ event_type }) => event_type === 'node_unknown').length;

  test('where nothing is found it is unknown again, though observe would wait for ever', async () => {
    const id = await unknownOne();
    desk.say(id, { recover: () => notLanded(), observe: () => pending(0.2) });
    await own.api.act('resume', id);
    await eventually(async () => ((await unknowns(id)) === 2 ? true : null), {
      what: () => 'a second node_unknown',
    });
    await own.api.reaches(id, 'MANUAL_INTERVENTION');
    expect(desk.calls(id, 'submit')).toHaveLength(1);
    // It never was accepted: a retry may still send it again, under its old key.
    desk.say(id, { recover: () => notLanded() });
    await own.api.act('retry', id);
    await own.api.reaches(id, 'COMPLETED');
    expect(desk.calls(id, 'submit')).toEqual([`${id}:pay:1`, `${id}:pay:1`]);
  });

  test('where it is found it counts as accepted, and is followed to its end', async () => {
    const id = await unknownOne();
    desk.say(id, { recover: () => accepted('found'), observe: () => pending(0.2) });
    await own.api.act('resume', id);
    await eventually(
      async () =>
        (await own.api.timeline(id)).find(({ message }) => message?.startsWith('Looked for')) ??
        null,
      { what: () => 'the find' },
    );
    desk.say(id, {});
    await own.api.reaches(id, 'COMPLETED');
    expect(desk.calls(id, 'submit')).toHaveLength(1);
  });
});

test('a failure offers what can still be done, and nothing where nothing can', async () => {
  const refusing: Script = {
    submit: () => failed('BANK_CLOSED', 'the bank is closed'),
  };
  const open = await startMovement(await plan([pay], []), refusing);
  const attention = await asks(open, 'failed');
  expect(attention).toMatchObject({ node_key: 'pay', attempt: 1 });
  expect(attention.last_answer).toContain('the bank is closed');
  expect(offered(attention)).toEqual(['retry', 'acknowledge']);
  await listed(open, 'failed');
  desk.say(open, { submit: () => accepted('later') });
  await own.api.act('retry', open);
  await own.api.reaches(open, 'COMPLETED');
  await listed(open, null);

  const undone = await startMovement(
    await plan([pay, compensation('undo')], [edge('pay', 'undo', 'on_failure')]),
    refusing,
  );
  expect(offered(await asks(undone, 'failed'))).toEqual(['acknowledge']);
  expect((await own.api.send('POST', `/movements/${undone}/actions/retry`)).status).toBe(409);
  // After a week it is no longer shown.
  await own.query(
    "UPDATE movements SET updated_at = updated_at - interval '7 days' WHERE movement_id = $1",
    [undone],
  );
  expect((await needing()).has(undone)).toBe(false);
}, 90_000);

test('the UI lists a failure until it is retried or acknowledged, and one that fails anew again', async () => {
  const refusing: Script = { submit: () => failed('BANK_CLOSED', 'the bank is closed') };
  const id = await startMovement(await plan([pay, gate('ask')], [edge('pay', 'ask')]), refusing);
  await listed(id, 'failed');
  // It says what it is of, as the movement's own runs do.
  const beside = own.temporal.workflow.getHandle(`attention/${id}`);
  const { searchAttributes } = await beside.describe();
  expect(searchAttributes).toMatchObject({ SvcMovementState: ['FAILED'], SvcAsset: ['USDC'] });
  // What somebody does to it by hand changes nothing of the movement, and does not last.
  await beside.terminate();
  await listed(id, 'failed');
  await own.api.act('retry', id);
  await own.api.reaches(id, 'FAILED');
  await listed(id, 'failed');
  desk.say(id, { submit: () => accepted('later') });
  await own.api.act('retry', id);
  // Beside the run that waits at its gate no older one is listed.
  await listed(id, 'manual_gate');
  await own.api.act('resume', id);
  await own.api.reaches(id, 'COMPLETED');
  await listed(id, null);

  const left = await startMovement(await plan([pay], []), refusing);
  await listed(left, 'failed');
  await own.api.expect(200, 'POST', `/movements/${left}/actions/acknowledge`, { reason: 'paid' });
  await listed(left, null);
}, 90_000);

test('a failure that no node has, and one of what a cancel led to, are named too', async () => {
  const wrong = {
    ...edge('first', 'then'),
    condition_expr: 'dec(intent.asset) > dec("1")',
  };
  const unsaid = await startMovement(await plan([noop('first'), noop('then')], [wrong]), {});
  const condition = await asks(unsaid, 'failed');
  expect(condition).toMatchObject({ node_key: 'first', actions: [{ action: 'acknowledge' }] });
  expect(condition.message).toContain('A condition behind first');
  expect((await needing()).get(unsaid)).toBe('failed');

  const undo = { ...pay, node_key: 'undo', node_kind: 'compensation' };
  const cancelled = await startMovement(
    await plan(
      [noop('first'), gate('ask'), undo],
      [edge('first', 'ask'), edge('first', 'undo', 'on_cancel')],
    ),
    { submit: () => failed('BANK_CLOSED', 'the bank is closed') },
  );
  await asks(cancelled, 'manual_gate');
  await own.api.act('cancel', cancelled);
  const left = await asks(cancelled, 'failed');
  expect((await own.api.movement(cancelled)).request_state).toBe('CANCELLED');
  expect(left).toMatchObject({ node_key: 'undo' });
  expect(left.last_answer).toContain('the bank is closed');
  expect(offered(left)).toEqual(['retry']);
  expect((await needing()).get(cancelled)).toBe('failed');
  await listed(cancelled, 'failed');
  desk.say(cancelled, {});
  await own.api.act('retry', cancelled);
  await own.api.nodeReaches(cancelled, 'undo', ['COMPLETED']);
  expect((await needing()).has(cancelled)).toBe(false);
}, 90_000);

test('a node whose executor was switched off names it, and who switches it on again', async () => {
  const id = await startMovement(await plan([pay], []), { observe: () => pending(0.2) });
  await own.api.nodeReaches(id, 'pay', ['OBSERVING']);
  expect((await needing()).has(id)).toBe(false);
  await set('disabled');
  const attention = await asks(id, 'executor_unavailable');
  expect(attention.message).toContain('test.scripted is disabled');
  expect(offered(attention)).toContain('enable_executor');
  await listed(id, 'executor_unavailable');
  // A malformed signal, sent by hand, stops no run, and the reason is signalled again.
  const run = own.temporal.workflow.getHandle(`movement/${id}`);
  for (const wrong of [[], ['failed'], [{ reason: 'no such reason' }], [{ reason: 7 }]])
    await run.signal('attention', ...wrong);
  await listed(id, 'executor_unavailable');
  await set('active');
  expect((await needing()).has(id)).toBe(false);
  await listed(id, null);
  // Nothing is heard of it for more than a minute.
  await own.query(
    "UPDATE movement_nodes SET unanswered = 3, unanswered_since = svc_now() - interval '61 seconds' WHERE movement_id = $1",
    [id],
  );
  expect((await needing()).get(id) ?? 'answered meanwhile').toMatch(
    /^(executor_unavailable|answered meanwhile)$/,
  );
  desk.say(id, {});
  await own.api.reaches(id, 'COMPLETED');
});

test('a payment waits for a venue that is suspended, shows that, and goes on or is cancelled', async () => {
  const words = 'withdrawals of USDC are suspended until 12:00 UTC';
  const id = await startMovement(await undoable(), {
    preflight: () => notNow('VENUE_SUSPENDED', words, 5),
  });
  const attention = await asks(id, 'venue_suspended');
  expect(attention).toMatchObject({
    ...{ node_key: 'pay', attempt: 1, errors: 0, last_answer: `VENUE_SUSPENDED: ${words}` },
  });
  expect(attention.message).toContain(words);
  expect(offered(attention)).toEqual(['cancel']);
  expect((await needing()).get(id)).toBe('venue_suspended');
  await listed(id, 'venue_suspended');
  desk.say(id, {});
  const { nodes } = await own.api.reaches(id, 'COMPLETED');
  expect(nodes.find(({ node_key }) => node_key === 'pay')).toMatchObject({
    ...{ state: 'COMPLETED', attempt: 1, error_code: null, error_message: null },
  });
  expect(desk.calls(id, 'preflight').length).toBeGreaterThan(1);
  expect(desk.calls(id, 'submit')).toEqual([`${id}:pay:1`]);
  await listed(id, null);

  const cancelled = await startMovement(await undoable(), {
    preflight: () => notNow('WITHDRAWAL_QUOTA_EXHAUSTED', 'nothing is left until 00:00 UTC', 300),
  });
  await asks(cancelled, 'withdrawal_quota_exhausted');
  await listed(cancelled, 'withdrawal_quota_exhausted');
  await own.api.act('cancel', cancelled);
  // Nothing was sent, so there is nothing to undo.
  await own.api.nodeReaches(cancelled, 'pay', ['CANCELLED']);
  await own.api.reaches(cancelled, 'CANCELLED');
  expect(desk.calls(cancelled, 'submit')).toEqual([]);
  await listed(cancelled, null);
}, 90_000);

test('a payment behind an unknown one names it', async () => {
  const { chain } = own.stack;
  const fund = await own.api.create(await storeTemplate(own.api, [withdrawal(chain, 'fund')]), {
    amount: '20',
  });
  await own.api.approve(fund);
  await own.api.reaches(fund.movement_id, 'COMPLETED');
  const pays = async (more: object): Promise<string> => {
    const template = await storeTemplate(own.api, [transfer(chain, 'out', { more })]);
    const movement = await own.api.create(template, { amount: '5' });
    await own.api.approve(movement);
    return movement.movement_id;
  };
  await own.chainFaults({ mining: 'paused' });
  try {
    const first = await pays({ timeout_policy: { observe_seconds: 1 } });
    await own.api.reaches(first, 'MANUAL_INTERVENTION');
    const second = await pays({});
    const states = 'SELECT error_code FROM movement_nodes WHERE movement_id = $1';
    await eventually(async () => {
      const [node] = await own.query<{ error_code: string | null }>(states, [second]);
      return node?.error_code === 'LANE_BLOCKED' ? true : null;
    });
    expect((await needing()).has(second)).toBe(false);
    // It has waited for a minute.
    await own.query(
      "UPDATE movement_nodes SET updated_at = updated_at - interval '1 minute' WHERE movement_id = $1",
      [second],
    );
    expect((await asks(second, 'lane_blocked')).message).toContain(`of movement ${first}`);
    expect((await needing()).get(second)).toBe('lane_blocked');
    await listed(second, 'lane_blocked');
    await own.chainFaults({ mining: 'automatic' });
    for (const id of [first, second]) await own.api.reaches(id, 'COMPLETED');
    await listed(second, null);
  } finally {
    await own.chainFaults({ mining: 'automatic' });
  }
}, 120_000);

test('lists filter by what is moved, by template, and say which filters there are', async () => {
  const template = await plan([gate('ask')], []);
  const id = await startMovement(template, {});
  await asks(id, 'manual_gate');
  const key = encodeURIComponent(template);
  expect([...(await needing(`&template_key=${key}`)).keys()]).toEqual([id]);
  expect((await needing(`&template_key=${key}&asset=usdc`)).get(id)).toBe('manual_gate');
  expect((await needing(`&template_key=${key}&asset=DOGE`)).size).toBe(0);
  expect((await needing(`&template_key=${key}&state=FAILED`)).size).toBe(0);
  const plain = await read<Needing>(`/movements?template_key=${key}&asset=USDC`);
  expect(plain.movements).toMatchObject([{ movement_id: id, attention_reason: 'manual_gate' }]);
  const { status, body } = await own.api.send('GET', '/movements?needsAttention=true');
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain(
    'there are state, strategy_id, template_key, asset, external_reference, metadata.<key>, needs_attention, created_from, created_to, limit, cursor',
  );
});

test('a cancellation requested in the Temporal UI moves no money and stops nothing', async () => {
  const sends: (() => void)[] = [];
  const id = await startMovement(await plan([gate('ask'), pay], [edge('ask', 'pay')]), {
    submit: () => new Promise((answer) => sends.push(() => answer(accepted('slow')))) as never,
  });
  const cancelled = async (): Promise<void> => {
    const run = own.temporal.workflow.getHandle(`movement/${id}`);
    await run.cancel();
    // The run has seen it: a task was completed after it.
    await eventually(
      async () => {
        const events = (await run.fetchHistory()).events ?? [];
        const last = events.findLastIndex((e) => e.workflowExecutionCancelRequestedEventAttributes);
        return events.slice(last).some((e) => e.workflowTaskCompletedEventAttributes) ? true : null;
      },
      { what: () => 'a task after the request' },
    );
  };
  await asks(id, 'manual_gate');
  const run = await own.runOf(id);
  await cancelled();
  expect((await own.api.movement(id)).request_state).toBe('WAITING_MANUAL_ACTION');
  await own.api.act('resume', id);
  await eventually(async () => (sends.length === 1 ? true : null), { what: () => 'the send' });
  await cancelled();
  sends[0]?.();
  await own.api.reaches(id, 'COMPLETED');
  expect(desk.calls(id, 'submit')).toHaveLength(1);
  expect((await own.runOf(id))?.run_id).toBe(run?.run_id);
});
