/**
 * Callbacks of real runs: every kind of event reaches the example receiver, and a killed worker
 * loses none.
 */
import type { WebhookMessage } from '../../clients/http/index.ts';
import type { ApprovalRule } from '../../domain/approval/rule.ts';
import { CALLBACK_EVENTS } from '../../domain/events.ts';
import {
  CALLBACK_SECRET,
  startReceiver,
  type FaultyReceiver,
} from '../support/callback-receiver.ts';
import { fundadmin } from '../../tools/command-line.ts';
import { assertConsistent } from '../support/evidence.ts';
import { PATIENCE_MS } from '../support/patience.mjs';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';

let own: OwnStack;
let target: FaultyReceiver;

const node = (node_key: string, node_kind = 'action') => ({
  node_key,
  node_kind,
  action_type: node_kind === 'manual_gate' ? 'manual_gate' : 'noop',
});
const edge = (from: string, to: string, edge_type = 'on_success') => ({ from, to, edge_type });
const TEMPLATES = [
  {
    template_key: 'gated',
    nodes: [node('before'), node('check', 'manual_gate'), node('after')],
    edges: [edge('before', 'check'), edge('check', 'after')],
  },
  { template_key: 'shared', nodes: [node('do')], edges: [] },
  { template_key: 'failing', nodes: [node('do')], edges: [], risk_controls: { max_amount: '1' } },
  {
    template_key: 'cancellable',
    nodes: [node('do'), node('undo', 'compensation')],
    edges: [edge('do', 'undo', 'on_cancel')],
  },
];

beforeAll(async () => {
  const env = {
    SVC_CALLBACK_ALLOWED_HOSTS_CSV: '127.0.0.1',
    SVC_CALLBACK_HMAC_SECRET: `whsec_bm90IHRoaXMgb25l,${CALLBACK_SECRET}`,
    SVC_CALLBACK_MAX_ATTEMPTS: '3',
  };
  [own, target] = await Promise.all([startOwnStack({ split: true, env }), startReceiver()]);
  for (const template of TEMPLATES) {
    const body = {
      ...template,
      version: 1,
      name: template.template_key,
      completion_policy: { completion_assurance: 'provider_completed' },
    };
    await own.api.expect(201, 'POST', '/plan-templates', body);
  }
}, 180_000);
afterAll(async () => {
  target?.close();
  await own?.close();
});

async function create(
  template_key: string,
  more: { readonly callback_url?: string; readonly approval_ttl_seconds?: number } = {},
) {
  const body = {
    template_key,
    template_version: 1,
    intent: { asset: 'USDC', amount: '5' },
    callback_url: target.url,
    ...more,
  };
  return (await own.api.expect(201, 'POST', '/movements', body)) as unknown as Created;
}

interface Listed {
  readonly event_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly attempts: number;
  readonly last_error: string | null;
}

/** The callbacks of a movement, oldest first. */
async function callbacksOf({ movement_id }: Created): Promise<readonly Listed[]> {
  const { callbacks } = (await own.api.expect(
    200,
    'GET',
    `/callbacks?movement_id=${movement_id}&limit=200`,
  )) as unknown as {
    callbacks: Listed[];
  };
  return callbacks.reverse();
}

/** Waits until no callback of the movement is pending; returns the delivered events. */
async function delivered(
  movement: Created,
  last: string,
  timeoutMs = PATIENCE_MS,
): Promise<readonly string[]> {
  let seen: readonly Listed[] = [];
  await eventually(
    async () => {
      seen = await callbacksOf(movement);
      return seen.at(-1)?.event_type === last && seen.every(({ status }) => status === 'delivered')
        ? true
        : null;
    },
    {
      timeoutMs,
      what: () =>
        `${last} to be delivered: ${seen.map(({ event_type, status }) => `${event_type} ${status}`).join(', ')}`,
    },
  );
  assertConsistent(
    await own.api.movement(movement.movement_id),
    await own.api.timeline(movement.movement_id),
  );
  const events = target.receiver.eventsOf(movement.movement_id);
  expect(events.map(({ event_id }) => event_id)).toEqual(seen.map(({ event_id }) => event_id));
  return events.map(({ event_type }) => event_type);
}

/** Two people must approve movements of this template; the tests' client is one of them. */
async function underRule(template_key: string): Promise<void> {
  const { client_id } = (await own.api.expect(200, 'GET', '/whoami')) as { client_id?: string };
  const rule: ApprovalRule = {
    applies_to: 'movement',
    when: { template_keys: [template_key] },
    require: [{ group: 'desk', threshold: 2 }],
    initiator_may_approve: true,
    payee_author_may_approve: true,
    template_author_may_approve: true,
    reason_required: false,
  };
  const people = [
    { person: 'ann', name: 'Ann', identities: [client_id ?? ''] },
    { person: 'bob', name: 'Bob', identities: ['dashboard:bob'] },
  ];
  const groups = [{ name: 'desk', members: ['ann', 'bob'] }];
  const change = { people, groups, rules: [{ name: 'two', rule }], audit: [] };
  await own.query('SELECT change_approvers($1::jsonb)', [JSON.stringify(change)]);
}

test('each kind of event reaches the receiver', async () => {
  await underRule('shared');
  const [gated, rejected, failing, cancelled, expired, shared] = await Promise.all([
    create('gated'),
    create('gated'),
    create('failing'),
    create('cancellable'),
    create('gated', { approval_ttl_seconds: 1 }),
    create('shared'),
  ]);
  for (const movement of [gated, failing, shared]) await own.api.approve(movement);
  await own.api.expect(200, 'POST', `/movements/${shared.movement_id}/withdraw-approval`, {});
  await own.api.expect(200, 'POST', `/movements/${rejected.movement_id}/reject`, {});
  await own.api.act('cancel', cancelled.movement_id);
  await own.api.reaches(gated.movement_id, 'WAITING_MANUAL_ACTION');
  await own.api.act('resume', gated.movement_id);
  await own.api.reaches(failing.movement_id, 'FAILED');
  await own.api.act('retry', failing.movement_id);
  await eventually(async () =>
    (await callbacksOf(failing)).filter(({ event_type }) => event_type === 'request_failed')
      .length === 2
      ? true
      : null,
  );

  const heard = new Set<string>();
  for (const [movement, last] of [
    [gated, 'request_completed'],
    [rejected, 'request_rejected'],
    [failing, 'request_failed'],
    [cancelled, 'request_cancelled'],
    [expired, 'request_expired'],
    [shared, 'approval_withdrawn'],
  ] as const) {
    for (const event of await delivered(movement, last)) heard.add(event);
  }
  expect([...heard].sort()).toEqual([...CALLBACK_EVENTS].sort());
  expect(target.receiver.refused).toEqual({ forged: 0, repeated: 0 });
  const last = target.receiver.eventsOf(failing.movement_id).at(-1);
  expect(last).toEqual({
    event_id: expect.any(String),
    event_type: 'request_failed',
    movement_id: failing.movement_id,
    request_state: 'FAILED',
    current_frontier: [],
    node_key: 'do',
    error_code: 'MAX_AMOUNT_EXCEEDED',
    sequence: expect.any(Number),
    occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
}, 90_000);

test('a webhook hears of every movement that waits for a person, and of a failure', async () => {
  const hook = await startReceiver();
  // A receiver that is away for a moment loses nothing.
  hook.fault = (_attempt, index) => (index === 0 ? 503 : null);
  const env = {
    SVC_DATABASE_URL: own.stack.databaseUrl,
    SVC_CALLBACK_ALLOWED_HOSTS_CSV: '127.0.0.1',
    SVC_CONSOLE_ORIGIN: 'https://funds.example',
  };
  let said = '';
  const run = (line: string) =>
    fundadmin(line.split(' '), {
      env,
      out: () => undefined,
      err: (text) => (said += text),
    });
  expect(await run(`webhooks set --name desk --url ${hook.url} --reason test --as bob`)).toBe(0);
  expect(said).not.toContain('does not list the host');
  const [gated, failing] = await Promise.all([create('gated'), create('failing')]);
  for (const movement of [gated, failing]) await own.api.approve(movement);
  await own.api.reaches(gated.movement_id, 'WAITING_MANUAL_ACTION');
  await own.api.reaches(failing.movement_id, 'FAILED');
  const about = [gated.movement_id, failing.movement_id];
  // The receiver has verified each with the library of Standard Webhooks.
  const heard = (): readonly WebhookMessage[] =>
    hook.receiver.arrived
      .map((each) => each as object as WebhookMessage)
      .filter(({ data }) => about.includes(String(data['movement_id'])));
  await eventually(async () => (heard().length >= 4 ? true : null), {
    what: () => `four messages: ${JSON.stringify(heard())}`,
  });
  expect(
    heard()
      .map(({ type, data }) => [data['movement_id'], type, data['reason'] ?? null, data.link])
      .sort(),
  ).toEqual(
    about
      .flatMap((id) => [
        [id, 'movement.approval_needed', null],
        [id, 'movement.attention', id === gated.movement_id ? 'manual_gate' : 'failed'],
      ])
      .map(([id, ...more]) => [id, ...more, `https://funds.example/console/movements/${id ?? ''}`])
      .sort(),
  );
  expect(hook.attempts.length).toBeGreaterThanOrEqual(5);
  expect(hook.receiver.refused).toEqual({ forged: 0, repeated: 0 });
  await eventually(async () => {
    const { callbacks } = (await own.api.expect(200, 'GET', '/callbacks?webhook=desk')) as {
      callbacks: Listed[];
    };
    return callbacks.length >= 4 && callbacks.every((each) => each.status === 'delivered')
      ? true
      : null;
  });
  expect(await run('webhooks remove --name desk --as bob')).toBe(0);
  hook.close();
}, 90_000);

test('a host off the list is a dead letter from the start, whoever writes the event', async () => {
  const movement = await create('gated', { callback_url: 'https://hooks.invalid/' });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  const callbacks = await callbacksOf(movement);
  expect(callbacks.map(({ event_type }) => event_type)).toEqual(
    expect.arrayContaining(['request_approved', 'request_attention']),
  );
  for (const callback of callbacks)
    expect(callback).toMatchObject({
      status: 'dead_letter',
      attempts: 0,
      last_error: 'host_not_allowed',
    });
  assertConsistent(
    await own.api.movement(movement.movement_id),
    await own.api.timeline(movement.movement_id),
  );
});

test('a worker killed while it delivers loses nothing, and delivers at most again', async () => {
  const [untaken, taken] = await Promise.all([create('gated'), create('gated')]);
  const tries = (eventId: string): number =>
    target.attempts.filter(({ event_id }) => event_id === eventId).length;
  let first: string | undefined;
  target.fault = ({ event_id }) => {
    first ??= event_id;
    // The event of the first movement is never taken; that of the second is, and its answer is
    // lost.
    return event_id === first ? 'no answer' : 'lost answer';
  };
  await own.api.expect(200, 'POST', `/movements/${untaken.movement_id}/reject`, {});
  await eventually(async () => (first === undefined ? null : true), {
    what: () => 'the first attempt',
  });
  await own.api.expect(200, 'POST', `/movements/${taken.movement_id}/reject`, {});
  await eventually(async () =>
    target.receiver.eventsOf(taken.movement_id).length === 1 ? true : null,
  );
  await own.stack.kill('worker');
  const [[lost], [unheard]] = await Promise.all([callbacksOf(taken), callbacksOf(untaken)]);
  expect([lost?.status, unheard?.status, unheard?.event_id]).toEqual(['pending', 'pending', first]);
  expect(target.receiver.eventsOf(untaken.movement_id)).toEqual([]);
  target.fault = () => null;
  await own.stack.startChild('worker');
  expect(await delivered(untaken, 'request_rejected', 40_000)).toEqual(['request_rejected']);
  expect(await delivered(taken, 'request_rejected', 40_000)).toEqual(['request_rejected']);
  expect(tries(first ?? '')).toBeGreaterThanOrEqual(2);
  expect(tries(lost?.event_id ?? '')).toBeGreaterThanOrEqual(2);
  expect(target.receiver.refused).toEqual({ forged: 0, repeated: tries(lost?.event_id ?? '') - 1 });
}, 120_000);

test('the receiver takes nothing that is not signed, or was sent before', async () => {
  const seen = target.receiver.arrived.length;
  const { forged, repeated } = target.receiver.refused;
  const again = target.attempts.at(-1)?.headers ?? {};
  const headers = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(again[name] ?? ''),
    ]),
  );
  const send = async (body: string, more: Record<string, string>) =>
    (await fetch(target.url, { method: 'POST', body, headers: more })).status;
  const [row] = await own.query<{ payload: string }>(
    'SELECT payload FROM callbacks WHERE nonce = $1',
    [headers['webhook-id']],
  );
  expect(await send(row?.payload ?? '', {})).toBe(401);
  expect(await send(JSON.stringify(JSON.parse(row?.payload ?? '{}')), headers)).toBe(401);
  expect(await send(row?.payload ?? '', headers)).toBe(200);
  expect([
    target.receiver.refused.forged - forged,
    target.receiver.refused.repeated - repeated,
  ]).toEqual([2, 1]);
  expect(target.receiver.arrived).toHaveLength(seen);
});
