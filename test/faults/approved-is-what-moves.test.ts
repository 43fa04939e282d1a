/**
 * Random plans, configs, `node_config`s, policies, outcomes and deeds of people, through the API of
 * a real service: whatever happens, what left somebody's books, less what was passed on, stays
 * within what was approved, and holds and budgets are at every look what the contract says.
 * `FLOW_MOVEMENTS` runs more of them, `FLOW_SEED` those of an earlier run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import { fundadmin } from '../../tools/command-line.ts';
import { compare, total } from '../support/amounts.ts';
import { booksDesk, type Outcome } from '../support/books-desk.ts';
import {
  assertConsistent,
  ledgerOf,
  transfersOnChain,
  type MovementView,
} from '../support/evidence.ts';
import { readHoldings, untrueHoldings, watchHoldings, type Holding } from '../support/holdings.ts';
import {
  drawnMovement,
  templateOf,
  type Deed,
  type Drawn,
  type Places,
} from '../support/movement-arbitrary.ts';
import {
  budgetOf,
  countsIn,
  excesses,
  outflowOf,
  planOf,
  type Landed,
  type PlanModel,
} from '../support/movement-model.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';

const MOVEMENTS = Number(process.env['FLOW_MOVEMENTS'] ?? '20');
const SEED = process.env['FLOW_SEED'];
/** So many run at once; the examples below are the first. */
const AT_ONCE = 10;
const STRATEGY = 'approved-is-what-moves';
const CHAIN_POOL = 'local-chain:dev-treasury';
const FUNDS = '10000';

const desk = booksDesk();
let served: ServedExecutor;
let own: OwnStack;
let places: Places;
const plans = new Map<string, PlanModel>();
const seen = new Set<string>();
let serial = 0;

/** An address of its own for each node. */
const payee = (movement: number, index: number): string =>
  `0x${(0xfeed_0000n * 0x1_0000_0000n + BigInt(movement * 16 + index)).toString(16).padStart(40, '0')}`;

beforeAll(async () => {
  served = await serveExecutor(desk.executor, { port: 0, log: () => undefined });
  const common = {
    kind: 'remote',
    url: served.url,
    timeout_seconds: 1,
    settle_seconds: 0,
    same_key_safe: true,
    payees: [],
  };
  // As many as the fewest examples and all that is drawn can need.
  const movements = Array.from(
    { length: MOVEMENTS + AT_ONCE + EXAMPLES.length },
    (_, index) => index,
  );
  own = await startOwnStack({
    env: { SVC_AUTO_APPROVE_ENABLED: 'true', SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '2' },
    allow: movements.flatMap((movement) =>
      Array.from({ length: 6 }, (_, index) => payee(movement, index)),
    ),
    executors: () => [
      { ...common, executor_key: 'books.pay', action_types: ['books_pay'] },
      { ...common, executor_key: 'books.look', action_types: ['books_look'], sends: false },
    ],
  });
  const { chainId, tokens, accounts } = own.stack.chain;
  places = {
    chainId,
    token: tokens.USDC.address,
    wallet: accounts.signer.address,
    payee: () => '',
  };
  const { client_id } = await own.api.expect(200, 'GET', '/whoami');
  await own.api.expect(201, 'POST', '/auto-approve-policies', {
    client_id,
    strategy_id: STRATEGY,
    allowed_assets: ['USDC', 'USDT'],
    window_hours: 24,
    max_amount_per_window: '1000000',
    allowed_templates: movements.map((movement) => ({ template_key: `test/${labelOf(movement)}` })),
  });
  await fundTheWallet();
}, 120_000);
afterAll(async () => {
  await own?.close();
  await served?.stop();
});

const labelOf = (movement: number): string => `m${movement}`;
const query = <R extends object>(sql: string): Promise<R[]> => own.query(sql) as Promise<R[]>;

/** What draws from the wallet needs something in it. */
async function fundTheWallet(): Promise<void> {
  const template = templateOf(
    { ...QUIET, nodes: [{ ...DRAW, kind: 'withdraw' }] },
    'funds',
    places,
  );
  await own.api.expect(201, 'POST', '/plan-templates', template);
  const movement = await own.api.create('test/funds', { amount: FUNDS });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
}

interface Running {
  readonly id: string;
  readonly label: string;
  readonly movement: number;
  readonly drawn: Drawn;
  readonly plan: PlanModel;
}

/** Creates and approves it; null where the service refuses what the contract has it refuse. */
async function begin(drawn: Drawn): Promise<Running | null> {
  const movement = serial++;
  const label = labelOf(movement);
  const template = templateOf(drawn, label, {
    ...places,
    payee: (index) => payee(movement, index),
  });
  const { outcomes, intent, node_config } = drawn;
  desk.plan(
    label,
    (nodeKey, attempt) =>
      outcomes[(Number(nodeKey.slice(1)) + attempt) % outcomes.length] as Outcome,
  );
  const created = await own.api.expect(201, 'POST', '/plan-templates', template);
  expect(created).toMatchObject({ executable_in_v3_0: true });
  const request = { intent, ...(node_config === null ? {} : { input_params: { node_config } }) };
  const plan = planOf(template, request, CHAIN_POOL);
  plans.set(label, plan);
  const answer = await own.api.send(
    'POST',
    '/movements',
    {
      ...request,
      template_key: template.template_key,
      template_version: 1,
      strategy_id: drawn.by_policy ? STRATEGY : 'a-person',
    },
    { 'idempotency-key': label },
  );
  const senders = plan.nodes.filter(({ sends }) => sends);
  if (senders.length > 0 && senders.every(({ asset }) => asset !== plan.intent.asset)) {
    seen.add('moves another asset');
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: { error: 'intent_asset_not_moved' } },
    });
    return null;
  }
  expect(answer).toMatchObject({
    status: 201,
    body: { outflow: [...outflowOf(plan)].map(([asset, amount]) => ({ asset, amount })) },
  });
  const {
    movement_id: id,
    compiled_plan_hash,
    approval_status,
  } = answer.body as Record<string, string>;
  if (id === undefined) throw new Error('it has no id');
  if (approval_status === 'approved') seen.add('approved by a policy');
  else {
    const approval = await own.api.send('POST', `/movements/${id}/approve`, {
      compiled_plan_hash,
      approver_id: 'tester',
    });
    if (approval.status === 409) {
      seen.add('refused for the balance');
      expect(approval.body).toMatchObject({
        detail: { error: 'insufficient_effective_withdrawable' },
      });
      await own.api.expect(200, 'POST', `/movements/${id}/reject`, {});
    } else expect(approval.status).toBe(200);
  }
  return { id, label, movement, drawn, plan };
}

const viewOf = (id: string): Promise<MovementView> => own.api.movement(id);

/** What the venue, the desk and the chain say that a movement has moved. */
async function landedOf({ id, label, movement, plan }: Running): Promise<readonly Landed[]> {
  const withdrawn = (await ledgerOf(own.stack.paperVenueUrl, id)).flatMap(
    ({ node_key, asset, amount, effects }) =>
      Array.from({ length: effects }, () => ({
        node_key,
        asset: asset ?? '',
        amount: amount ?? '0',
      })),
  );
  const paid = desk.entries().filter((entry) => entry.label === label);
  const byPayee = new Map(
    plan.nodes.map(({ node_key }, index) => [payee(movement, index), node_key]),
  );
  const sent = (await transfersOnChain(own.stack.chain)).flatMap(({ to, amount }) => {
    const node_key = byPayee.get(to.toLowerCase());
    return node_key === undefined ? [] : [{ node_key, asset: 'USDC', amount }];
  });
  for (const [what, some] of Object.entries({ withdrawn, paid, sent }))
    if (some.length > 0) seen.add(what);
  return [...withdrawn, ...paid, ...sent];
}

/** As a person with the desk's books before them. */
async function resolve({ id, label }: Running): Promise<void> {
  const { nodes } = await viewOf(id);
  const node = nodes.find(({ state }) => state === 'UNKNOWN');
  if (node === undefined) return;
  const key = `${id}:${node.node_key}:${node.attempt}`;
  const landed = desk.entries().some((entry) => entry.key === key && entry.label === label);
  // What the venue and the chain know they tell by themselves.
  if (
    (plans.get(label)?.nodes ?? []).find(({ node_key }) => node_key === node.node_key)
      ?.action_type !== 'books_pay'
  )
    return;
  const outcome = landed ? 'completed' : 'failed';
  const { attempt } = node;
  const resolution = { outcome, reason: 'the books say so', attempt, evidence: { key } };
  await eventually(
    async () => {
      const { status, body } = await own.api.send(
        'POST',
        `/movements/${id}/nodes/${node.node_key}/actions/resolve`,
        resolution,
      );
      if (status === 200) seen.add(`resolved: ${outcome}`);
      return JSON.stringify(body).includes('send_not_over') ? null : true;
    },
    { what: () => `the send of ${key} to be over` },
  );
}

async function act(running: Running, deed: Deed): Promise<void> {
  if (deed === 'resolve') return resolve(running);
  if (deed === 'fetch') return void (await fetchAll());
  const { status, body } = await own.api.send('POST', `/movements/${running.id}/actions/${deed}`);
  if (status === 200) seen.add(deed);
  if (status !== 200 && status !== 409)
    throw new Error(`${deed} answered ${status}: ${JSON.stringify(body)}`);
}

/** Asks every venue; answers what is shown of each pool. */
async function fetchAll(): Promise<readonly Readonly<Record<string, string>>[]> {
  const read = async (more: string) =>
    (
      (await own.api.expect(200, 'GET', `/balances${more}`)) as unknown as {
        balances: Record<string, string>[];
      }
    ).balances;
  const venues = new Set((await read('')).map(({ venue_key }) => venue_key ?? ''));
  return (
    await Promise.all(
      [...venues].map((venue) => read(`?fresh=true&venue_key=${encodeURIComponent(venue)}`)),
    )
  ).flat();
}

/** How it stands; `over` once nothing of it can go on by itself. */
async function standing({ id }: Running): Promise<{
  readonly over: boolean;
  readonly rests: boolean;
  readonly doubtful: boolean;
  readonly gate: boolean;
}> {
  const { request_state: state, nodes } = await viewOf(id);
  const [row] = await own.query<{ over: boolean }>(
    'SELECT ended_at IS NOT NULL AS over FROM movements WHERE movement_id = $1',
    [id],
  );
  const doubtful = nodes.some((node) => node.state === 'UNKNOWN');
  // What a person has had looked at again is looked at for as long as the desk has its moods.
  const looked =
    nodes.some((node) => node.state === 'OBSERVING') &&
    (await own.api.timeline(id)).some(
      ({ event_type, from_state }) => event_type === 'node_observing' && from_state === 'UNKNOWN',
    );
  const gate = state === 'WAITING_MANUAL_ACTION';
  const over = row?.over === true && !doubtful;
  return { over, doubtful, gate, rests: over || doubtful || gate || looked };
}

const rests = (running: Running): Promise<unknown> =>
  eventually(async () => ((await standing(running)).rests ? true : null), {
    timeoutMs: 120_000,
    everyMs: 200,
    what: () => `${running.label} to come to rest`,
  });

/** Does with it what was drawn, while the desk has its moods. */
async function live(running: Running): Promise<void> {
  for (const { after_ms, deed } of running.drawn.deeds) {
    if (after_ms === null) await rests(running);
    else await sleep(after_ms);
    await act(running, deed);
  }
  await rests(running);
}

/** Leads it to its end. */
async function end(running: Running): Promise<void> {
  await eventually(
    async () => {
      const { over, gate, doubtful } = await standing(running);
      if (gate) await act(running, 'resume');
      else if (doubtful) await act(running, running.movement % 2 === 0 ? 'resolve' : 'retry');
      return over ? true : null;
    },
    { timeoutMs: 120_000, everyMs: 300, what: () => `the end of ${running.label}` },
  );
  const view = await viewOf(running.id);
  seen.add(view.request_state);
  if (view.nodes.some(({ error_code }) => error_code === 'APPROVED_OUTFLOW_EXCEEDED'))
    seen.add('stopped at the fence');
  assertConsistent(view, await own.api.timeline(running.id));
}

/** So many movements at once, looked at all the while. */
async function runAll(drawn: readonly Drawn[]): Promise<void> {
  desk.storm();
  await own.venueFaults({
    lose_answer_rate: 0.2,
    processing_ms: 100,
    phases: ['submit', 'observe', 'recover'],
    seed: serial + 1,
  });
  const work = (async () => {
    const running = (await Promise.all(drawn.map(begin))).filter((each) => each !== null);
    await Promise.all(running.map(live));
    desk.calm();
    await own.venueFaults(null);
    await Promise.all(running.map(end));
    return running;
  })();
  const look = (): Promise<readonly Holding[]> => readHoldings(query, plans);
  const [running, watched] = await Promise.all([work, watchHoldings(look, work, 30)]);
  expect(watched.found).toEqual([]);
  expect(watched.looks).toBeGreaterThan(0);
  for (const each of running)
    expect([each.label, excesses(each.plan, outflowOf(each.plan), await landedOf(each))]).toEqual([
      each.label,
      [],
    ]);
  await checkOver(await look());
}

/**
 * When all have ended and every pool was fetched once more, nothing is held, and the budget is the
 * sum of what was used up.
 */
async function checkOver(holdings: readonly Holding[]): Promise<void> {
  expect(untrueHoldings(holdings)).toEqual([]);
  // A venue that was read within the last second, before the last of them had ended, is not read
  // again yet.
  const held = async () =>
    (await fetchAll()).filter(({ svc_pending_outflow }) => svc_pending_outflow !== '0');
  expect((await fetchAll()).length).toBeGreaterThan(5);
  await eventually(async () => ((await held()).length === 0 ? true : null), {
    everyMs: 300,
    what: () => 'nothing to be held',
  });
  expect(await own.query('SELECT * FROM reservation_pools WHERE held <> 0')).toEqual([]);
  expect(await own.query("SELECT * FROM reservations WHERE status = 'held'")).toEqual([]);
  const budgeted = holdings.flatMap((each) =>
    each.plan !== null && each.by_policy && each.approved ? [{ ...each, plan: each.plan }] : [],
  );
  const used = budgeted.map(budgetOf);
  const { policies } = (await own.api.expect(200, 'GET', `/budgets/${STRATEGY}`)) as unknown as {
    policies: Record<string, unknown>[];
  };
  const count = budgeted.filter(
    (each) => compare(budgetOf(each), '0') > 0 || countsIn(each),
  ).length;
  expect(policies).toMatchObject([
    { reserved_amount: '0', consumed_amount: total(used), count_in_window: count },
  ]);
  let out = '';
  const io = {
    env: { SVC_DATABASE_URL: own.stack.databaseUrl },
    out: (text: string) => (out += text),
    err: (text: string) => (out += text),
  };
  expect([await fundadmin(['reservations', 'verify'], io), out]).toEqual([
    0,
    expect.stringContaining('"ok": true'),
  ]);
}

const DRAW: Drawn['nodes'][number] = {
  kind: 'order',
  asset: 'USDC',
  amount: '10',
  says: 'nothing',
  of: 0,
  most: null,
  edge: 'on_success',
  priority: 0,
  after: 0,
};
const QUIET: Drawn = {
  nodes: [DRAW],
  more: [],
  intent: { asset: 'USDC', amount: '1' },
  node_config: null,
  most: null,
  by_policy: false,
  outcomes: ['pays'],
  deeds: [],
};
const second = (more: Partial<Drawn['nodes'][number]>): Drawn['nodes'] => [
  DRAW,
  { ...DRAW, ...more },
];
/** What random draws may miss in a short run. */
const EXAMPLES: readonly Drawn[] = [
  // A caller's amount, and what arrived of it moved on, on the chain.
  {
    ...QUIET,
    by_policy: true,
    node_config: { amount: '90' },
    nodes: [
      { ...DRAW, kind: 'withdraw' },
      { ...DRAW, kind: 'send', says: 'ref' },
    ],
  },
  // An executor that reports three times the amount lets no node pass on more than the requested
  // amount.
  { ...QUIET, by_policy: true, outcomes: ['boasts'], nodes: second({ says: 'ref' }) },
  // A part was sent: the rest of the hold, and of the budget, is released.
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['part', 'breaks'],
    nodes: second({ kind: 'venue order' }),
  },
  // Two draws of one pool, one of them behind a gate at which it is cancelled.
  {
    ...QUIET,
    by_policy: true,
    deeds: [{ after_ms: null, deed: 'cancel' }],
    nodes: [
      { ...DRAW, kind: 'withdraw' },
      { ...DRAW, kind: 'gate' },
      { ...DRAW, kind: 'withdraw', after: 1 },
      { ...DRAW, edge: 'on_cancel' },
    ],
  },
  // Cancelled while it is unknown whether it was paid.
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['silent'],
    deeds: [{ after_ms: null, deed: 'cancel' }],
    nodes: second({ kind: 'venue order', edge: 'on_cancel', says: 'ref' }),
  },
  // Ways that exclude each other, of which the dearer is not taken.
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['breaks', 'pays'],
    intent: { asset: 'USDC', amount: '2.5' },
    nodes: [
      { ...DRAW, kind: 'venue order' },
      { ...DRAW, says: 'amount', amount: '7.25' },
      { ...DRAW, edge: 'on_failure', after: 0 },
    ],
  },
  // A person resolves it as paid or as not paid where no proof exists.
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['silent'],
    nodes: second({ kind: 'venue order' }),
    deeds: [{ after_ms: null, deed: 'resolve' }],
  },
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['dead'],
    nodes: second({ kind: 'venue order' }),
    deeds: [{ after_ms: null, deed: 'resolve' }],
  },
  // A person has it looked at again, which shows nothing before the desk is calm.
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['dead'],
    nodes: second({ kind: 'venue order' }),
    deeds: [{ after_ms: null, deed: 'resume' }],
  },
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['silent'],
    nodes: second({ kind: 'venue order' }),
    deeds: [{ after_ms: null, deed: 'resume' }],
  },
  // A gate that is resumed.
  {
    ...QUIET,
    nodes: [
      { ...DRAW, kind: 'gate' },
      { ...DRAW, kind: 'withdraw' },
    ],
  },
  // Fails, is retried and pays.
  {
    ...QUIET,
    by_policy: true,
    outcomes: ['pays', 'refuses', 'pays', 'pays'],
    nodes: [DRAW],
    deeds: [{ after_ms: null, deed: 'retry' }],
  },
  // Nothing bounds what an observer tells, so only a person may approve it.
  {
    ...QUIET,
    nodes: [
      { ...DRAW, kind: 'look' },
      { ...DRAW, says: 'ref' },
    ],
  },
  // Draws from the wallet itself, and more than is in it.
  { ...QUIET, nodes: [{ ...DRAW, kind: 'send' }], node_config: { amount: '90000' } },
  { ...QUIET, by_policy: true, nodes: [{ ...DRAW, kind: 'send' }] },
];

test(
  'whatever happens, what leaves the books stays within what was approved, and holds and budgets say so all the while',
  async () => {
    await runAll(EXAMPLES);
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnMovement, { minLength: AT_ONCE, maxLength: AT_ONCE, size: 'max' }),
        runAll,
      ),
      {
        numRuns: Math.ceil(MOVEMENTS / AT_ONCE),
        endOnFailure: true,
        ...(SEED === undefined ? {} : { seed: Number(SEED) }),
      },
    );
    const hoped = [
      'withdrawn',
      'paid',
      'sent',
      'COMPLETED',
      'FAILED',
      'CANCELLED',
      'cancel',
      'retry',
      'approved by a policy',
    ];
    const rare = [
      'stopped at the fence',
      'refused for the balance',
      'resume',
      'resolved: completed',
      'resolved: failed',
    ];
    expect([...hoped, ...rare].filter((each) => !seen.has(each))).toEqual([]);
  },
  Math.max(240_000, MOVEMENTS * 6_000),
);
