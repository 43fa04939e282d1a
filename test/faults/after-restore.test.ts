/**
 * The database is put back to before sends that it had recorded, as after a restore or a failover
 * with lost commits, while Temporal and the venues go on from where they were. After
 * `fundadmin after-restore` nothing is paid twice, and what was never sent is.
 */
import { randomUUID } from 'node:crypto';
import { secretsKeyFile } from '../../dev/stack/keys.ts';
import type { TransferEntry } from '../../dev/simulators/paper-venue/transfer-views.ts';
import { fundadmin } from '../../tools/command-line.ts';
import {
  assertConsistent,
  ledgerOf,
  transfersOnChain,
  type MovementView,
  type TimelineView,
} from '../support/evidence.ts';
import { holdWrites } from '../support/held-writes.ts';
import { eventually, ownStack, type Created } from '../support/own-stack.ts';
import { compensation, edge, gate, storeTemplate, transfer, withdrawal } from '../support/plans.ts';
import { saveDatabase } from '../support/restored.ts';

/** Its owner does not promise that a repeated key has no second effect. */
const unsafe = (url: string) => ({
  executor_key: 'test.unsafe',
  kind: 'remote',
  url,
  timeout_seconds: 5,
  same_key_safe: false,
  action_types: ['cex_withdrawal'],
  provider: 'unsafe',
  completion_assurances: ['destination_credited'],
});

interface Result {
  readonly movements_woken: number;
  readonly nodes_asked_first: number;
  readonly retries_asked_first: number;
  readonly capital_transfers: number;
  readonly cutover_mode: string;
  readonly repeated: boolean;
}
let serial = 0;
let first: Result;
let second: Result;
let changedByTheSecond: boolean;
let saidNothingFoundAfter: number;
const made = new Map<string, Created & { readonly amount: string }>();
let transferId: string;

async function create(name: string, template: string, approved = true): Promise<void> {
  serial += 1;
  const amount = name === 'fund' ? '1000' : `21.${String(serial).padStart(2, '0')}3`;
  const movement = { ...(await own.api.create(template, { amount })), amount };
  made.set(name, movement);
  if (approved) await own.api.approve(movement);
}
const idOf = (name: string): string => made.get(name)?.movement_id ?? '';
const movementOf = (name: string): Promise<MovementView> => own.api.movement(idOf(name));
const nodeOf = async (name: string, key: string) =>
  (await movementOf(name)).nodes.find(({ node_key }) => node_key === key);
const consistent = async (name: string): Promise<void> =>
  assertConsistent(await movementOf(name), await own.api.timeline(idOf(name)));
const ledger = (name: string) => ledgerOf(own.stack.paperVenueUrl, idOf(name));
const paidOnChain = async (name: string): Promise<number> =>
  (await transfersOnChain(own.stack.chain)).filter(
    ({ amount }) => amount === made.get(name)?.amount,
  ).length;
/** Waits for an end that may also come after a FAILED that stood there before. */
const ends = (name: string, state: string): Promise<MovementView> =>
  eventually(
    async () => {
      const movement = await movementOf(name);
      return movement.request_state === state ? movement : null;
    },
    { timeoutMs: 120_000, what: () => `${name} to become ${state}` },
  );
const resolve = (name: string, node: string, outcome: 'completed' | 'failed') =>
  own.api.expect(200, 'POST', `/movements/${idOf(name)}/nodes/${node}/actions/resolve`, {
    outcome,
    reason: 'the statement of the venue',
    evidence: { statement: 'line 7' },
  });
/** Ends the time of all sends, so that nothing has to wait for it; call before what would wait. */
const sendsAreOver = () =>
  own.query(
    "UPDATE movement_nodes SET send_not_after = svc_now() - interval '1 hour' WHERE send_not_after IS NOT NULL",
  );
/** The message of a movement's UNKNOWN node on the timeline. */
async function whyUnknown(name: string): Promise<string | undefined> {
  const entries = (await own.api.timeline(idOf(name))) as readonly (TimelineView & {
    readonly message: string;
  })[];
  return entries.find(({ event_type }) => event_type === 'node_unknown')?.message;
}
const rows = () =>
  own.query(
    "SELECT md5(string_agg(n::text, '|' ORDER BY n.movement_id, n.node_key)) AS nodes, (SELECT count(*) FROM commands) AS commands FROM movement_nodes n",
  );

async function afterRestore(): Promise<Result> {
  let out = '';
  let err = '';
  const env = {
    SVC_DATABASE_URL: own.stack.databaseUrl,
    SVC_SECRETS_KEY_FILE: secretsKeyFile(own.stack.dataDir),
  };
  const args = ['after-restore', '--incident', 'test-1', '--reason', 'a backup of yesterday'];
  const status = await fundadmin(args, {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  expect([status, err]).toEqual([0, '']);
  return JSON.parse(out) as Result;
}

const own = ownStack({
  split: true,
  executors: (paperVenueUrl) => [unsafe(paperVenueUrl)],
  env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1' },
});
beforeAll(async () => {
  const { chain } = own.stack;
  const held = await holdWrites(own.stack.databaseUrl);
  const toTreasury = { destination_address: chain.accounts.treasury.address };
  const paper = withdrawal(chain, 'pay', {
    config: toTreasury,
    more: { retry_policy: { max_attempts: 1 } },
  });
  const other = withdrawal(chain, 'pay', { provider: 'unsafe', config: toTreasury });
  const onChain = transfer(chain, 'pay', {
    more: { retry_policy: { max_attempts: 2, initial_interval_seconds: 0.1 } },
  });
  const template = {
    paper: await storeTemplate(own.api, [paper]),
    // Its write may be held past its time to send, which counts as one that did not land.
    heldPaper: await storeTemplate(own.api, [
      { ...paper, retry_policy: { max_attempts: 5, initial_interval_seconds: 0.1 } },
    ]),
    gatedPaper: await storeTemplate(own.api, [gate('check'), paper]),
    gatedUnsafe: await storeTemplate(own.api, [gate('check'), other]),
    chain: await storeTemplate(own.api, [onChain]),
    gatedChain: await storeTemplate(own.api, [gate('check'), onChain]),
    cancellable: await storeTemplate(own.api, [gate('check'), paper, compensation('undo')], {
      edges: [edge('check', 'pay'), edge('pay', 'undo', 'on_cancel')],
    }),
    twoWays: await storeTemplate(
      own.api,
      [gate('check'), paper, { ...paper, node_key: 'instead' }],
      {
        edges: [edge('check', 'pay'), edge('pay', 'instead', 'on_failure')],
      },
    ),
  };
  await create('fund', await storeTemplate(own.api, [withdrawal(chain, 'fund')]));
  await ends('fund', 'COMPLETED');

  // Where the database will be put back to.
  await create('pending', template.paper, false);
  for (const name of ['blocked', 'never sent']) await create(name, template.gatedPaper);
  for (const name of ['unsafe', 'unsafe, never sent']) await create(name, template.gatedUnsafe);
  await create('on chain, never sent', template.gatedChain);
  for (const name of ['to cancel', 'to cancel, never sent'])
    await create(name, template.cancellable);
  await create('retried', template.gatedPaper);
  await create('other way', template.twoWays);
  const gated = [
    'retried',
    'other way',
    'blocked',
    'never sent',
    'unsafe',
    'unsafe, never sent',
    'on chain, never sent',
    'to cancel',
    'to cancel, never sent',
  ];
  for (const name of gated) await ends(name, 'WAITING_MANUAL_ACTION');
  await own.venueFaults({ error_rate: 1, phases: ['submit', 'recover'] });
  await create('failed', template.paper);
  await ends('failed', 'MANUAL_INTERVENTION');
  await own.venueFaults(null);
  await sendsAreOver();
  await resolve('failed', 'pay', 'failed');
  await ends('failed', 'FAILED');
  for (const [name, key] of [
    ['ready', template.heldPaper],
    ['on chain', template.chain],
  ] as const) {
    await create(name, key, false);
    await held.hold('fence', idOf(name));
    await own.api.approve(made.get(name)!);
  }
  await held.waiting(2);
  // The worker waits for these two writes, so this is done when it begins anew.
  const saved = await saveDatabase(own.stack.databaseUrl);

  // What will be lost: first of all two that fail, and are paid by another attempt and on another
  // way.
  await own.venueFaults({ error_rate: 1, phases: ['submit', 'recover'] });
  for (const name of ['retried', 'other way']) await own.api.act('resume', idOf(name));
  for (const name of ['retried', 'other way']) await ends(name, 'MANUAL_INTERVENTION');
  await own.venueFaults(null);
  await sendsAreOver();
  for (const name of ['retried', 'other way']) await resolve(name, 'pay', 'failed');
  await ends('retried', 'FAILED');
  await own.api.act('retry', idOf('retried'));
  for (const name of ['retried', 'other way']) await ends(name, 'COMPLETED');

  await held.release();
  await own.api.approve(made.get('pending')!);
  for (const name of ['blocked', 'unsafe', 'to cancel']) await own.api.act('resume', idOf(name));
  await own.api.act('retry', idOf('failed'));
  for (const name of ['pending', 'blocked', 'unsafe', 'to cancel', 'failed', 'ready', 'on chain'])
    await ends(name, 'COMPLETED');
  await own.stack.stopChild('worker');
  await own.stack.stopChild('api');
  await held.close();

  await saved.restore();
  first = await afterRestore();
  const [before] = await rows();
  second = await afterRestore();
  const [after] = await rows();
  changedByTheSecond = JSON.stringify(before) !== JSON.stringify(after);
  const [window] = await own.query<{ seconds: number }>(
    'SELECT extract(epoch FROM min(send_not_after) - svc_now())::float AS seconds FROM movement_nodes WHERE restored',
  );
  saidNothingFoundAfter = window?.seconds ?? 0;
  await sendsAreOver();
  await own.stack.startChild('worker');
  await own.stack.startChild('api');
}, 600_000);

test('the step is done once, says what it did and is in the audit', async () => {
  // All but the funding are open or can be retried; the failed one has no run to wake.
  expect(first).toMatchObject({
    incident: 'test-1',
    movements_woken: 12,
    nodes_asked_first: 13,
    retries_asked_first: 1,
    cutover_mode: 'drain',
    change_requests_ended: 0,
    repeated: false,
  });
  expect(second).toEqual({ ...first, repeated: true });
  expect(changedByTheSecond).toBe(false);
  // A worker of before may have sent until then.
  expect(saidNothingFoundAfter).toBeGreaterThan(60);
  const audit = await own.query(
    "SELECT outcome, reason, details FROM audit_events WHERE action = 'database.after_restore'",
  );
  expect(audit).toMatchObject([
    {
      outcome: 'success',
      reason: 'a backup of yesterday',
      details: { nodes_asked_first: 13, retries_asked_first: 1 },
    },
  ]);
});

describe('what was sent before the restore and is forgotten', () => {
  test.each([
    ['was about to pass its fence', 'ready', () => Promise.resolve()],
    ['was not approved', 'pending', () => own.api.approve(made.get('pending')!)],
    ['waited behind a gate', 'blocked', () => own.api.act('resume', idOf('blocked'))],
    ['had failed and was retried', 'failed', () => own.api.act('retry', idOf('failed'))],
    [
      'is bound to an executor whose keys are not safe',
      'unsafe',
      () => own.api.act('resume', idOf('unsafe')),
    ],
  ] as const)('is found and not sent again: %s', async (_what, name, goOn) => {
    await goOn();
    await ends(name, 'COMPLETED');
    expect(await ledger(name)).toMatchObject([{ effects: 1, submit_calls: 1 }]);
    expect(await nodeOf(name, 'pay')).toMatchObject({
      state: 'COMPLETED',
      amount: made.get(name)?.amount,
    });
    await consistent(name);
  });

  test('is not sent again under the key of an earlier attempt: the message names the known one', async () => {
    await own.api.act('resume', idOf('retried'));
    await ends('retried', 'MANUAL_INTERVENTION');
    expect(await whyUnknown('retried')).toContain(`${idOf('retried')}:pay:2`);
    expect(await ledger('retried')).toMatchObject([
      { effects: 1, idempotency_key: `${idOf('retried')}:pay:2` },
    ]);
    await resolve('retried', 'pay', 'completed');
    await ends('retried', 'COMPLETED');
    await consistent('retried');
  });

  test('on another path is not sent too: a person decides, and recovery looks at the other path', async () => {
    await own.api.act('resume', idOf('other way'));
    await ends('other way', 'MANUAL_INTERVENTION');
    expect(await whyUnknown('other way')).toContain('instead may have been sent');
    const paid = [
      { effects: 1, submit_calls: 1, idempotency_key: `${idOf('other way')}:instead:1` },
    ];
    expect(await ledger('other way')).toMatchObject(paid);
    await resolve('other way', 'pay', 'failed');
    await ends('other way', 'COMPLETED');
    expect(await ledger('other way')).toMatchObject(paid);
    expect(await nodeOf('other way', 'instead')).toMatchObject({ state: 'COMPLETED' });
    await consistent('other way');
  });

  test('on a chain is not sent again while the account shows an unknown nonce; a person resolves it', async () => {
    await ends('on chain', 'MANUAL_INTERVENTION');
    expect(await nodeOf('on chain', 'pay')).toMatchObject({
      state: 'UNKNOWN',
      error_message: expect.stringContaining('nonce'),
    });
    await resolve('on chain', 'pay', 'completed');
    await ends('on chain', 'COMPLETED');
    expect(await paidOnChain('on chain')).toBe(1);
    await consistent('on chain');
  });
});

describe('a cancel before recovery looked at a node', () => {
  const cancelled = async (name: string, pay: string): Promise<void> => {
    await own.api.act('cancel', idOf(name));
    await eventually(async () => ((await nodeOf(name, 'pay'))?.state === pay ? true : null), {
      timeoutMs: 120_000,
    });
    await eventually(async () =>
      ['COMPLETED', 'SKIPPED'].includes((await nodeOf(name, 'undo'))?.state ?? '') ? true : null,
    );
    expect(await movementOf(name)).toMatchObject({ request_state: 'CANCELLED' });
    await consistent(name);
  };

  test('finds what was sent, holds it for sent, and undoes it', async () => {
    await cancelled('to cancel', 'COMPLETED');
    expect(await ledger('to cancel')).toMatchObject([{ effects: 1, submit_calls: 1 }]);
    expect(await nodeOf('to cancel', 'undo')).toMatchObject({ state: 'COMPLETED' });
  });

  test('sends nothing that was not', async () => {
    await cancelled('to cancel, never sent', 'CANCELLED');
    expect(await ledger('to cancel, never sent')).toEqual([]);
    expect(await nodeOf('to cancel, never sent', 'undo')).toMatchObject({ state: 'SKIPPED' });
  });
});

describe('what was never sent', () => {
  test('is sent once its venue shows nothing', async () => {
    await own.api.act('resume', idOf('never sent'));
    await ends('never sent', 'COMPLETED');
    expect(await ledger('never sent')).toMatchObject([
      { effects: 1, submit_calls: 1, idempotency_key: `${idOf('never sent')}:pay:1` },
    ]);
    await consistent('never sent');
  });

  test.each([
    ['by an executor whose keys are not safe', 'unsafe, never sent'],
    ['on a chain whose account has used an unknown nonce', 'on chain, never sent'],
  ])('%s waits for a person, and is sent by a retry', async (_what, name) => {
    await own.api.act('resume', idOf(name));
    await ends(name, 'MANUAL_INTERVENTION');
    expect(await nodeOf(name, 'pay')).toMatchObject({ state: 'UNKNOWN' });
    expect(await whyUnknown(name)).toContain('restored');
    expect([await ledger(name), await paidOnChain(name)]).toEqual([[], 0]);
    await resolve(name, 'pay', 'failed');
    await ends(name, 'FAILED');
    await own.api.act('retry', idOf(name));
    await ends(name, 'COMPLETED');
    expect(await paidOnChain(name)).toBe(1);
    expect(await nodeOf(name, 'pay')).toMatchObject({ attempt: 2 });
    await consistent(name);
  });
});

test('a look at a capital transfer comes first', async () => {
  // Until a person has compared keys, allowlist and people, nothing new is taken.
  expect(await own.api.expect(200, 'GET', '/admin/cutover-mode')).toMatchObject({
    mode: 'drain',
    previous_mode: 'normal',
    changed_by: { client_id: 'fundadmin' },
    reason: expect.stringContaining('test-1'),
  });
  const record = async () => {
    const { entries } = (await (await fetch(`${own.stack.paperVenueUrl}/transfers`)).json()) as {
      entries: readonly TransferEntry[];
    };
    return entries.filter(({ client_reference }) => client_reference === transferId);
  };
  await own.stack.stopChild('worker');
  const body = {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    asset: 'USDT',
    amount: '10',
    reason: 'a test',
  };
  const request = { ...body, idempotency_key: randomUUID() };
  expect(await own.api.send('POST', '/capital-transfers', request)).toMatchObject({
    status: 409,
    body: { detail: { error: 'cutover_mode_active', mode: 'drain' } },
  });
  await own.api.expect(200, 'POST', '/admin/cutover-mode', {
    mode: 'normal',
    reason: 'keys, allowlist and people are as they were',
  });
  const created = await own.api.expect(201, 'POST', '/capital-transfers', request);
  transferId = String(created['transfer_id']);
  const state = async () =>
    (await own.api.expect(200, 'GET', `/capital-transfers/${transferId}`))['request_state'];
  expect(await state()).toBe('CREATED');
  await own.query('DROP SCHEMA saved_rows CASCADE');
  const saved = await saveDatabase(own.stack.databaseUrl);
  await own.stack.startChild('worker');
  await eventually(async () => ((await state()) === 'COMPLETED' ? true : null));
  const [sent] = await record();

  await own.stack.stopChild('worker');
  await own.stack.stopChild('api');
  await saved.restore();
  let out = '';
  const env = {
    SVC_DATABASE_URL: own.stack.databaseUrl,
    SVC_SECRETS_KEY_FILE: secretsKeyFile(own.stack.dataDir),
  };
  await fundadmin(['after-restore'], {
    env,
    out: (text) => (out += text),
    err: () => undefined,
  });
  expect(JSON.parse(out)).toMatchObject({ capital_transfers: 1 });
  await own.stack.startChild('worker');
  await own.stack.startChild('api');
  await eventually(async () => ((await state()) === 'COMPLETED' ? true : null));
  expect(await record()).toEqual([sent]);
}, 120_000);
