/** An activity that runs twice, or in two workers at once, has one effect. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import { createMovementActivities } from '../../activities/movement.ts';
import { createApi } from '../../api/app.ts';
import { routes } from '../../venues/routes.ts';
import { listen, type Listening } from '../../api/http/server.ts';
import {
  ExecutorFault,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type ExecutorPhase,
} from '../../domain/executor.ts';
import type {
  DecideArgs,
  MovementActivities,
  Phase,
  PhaseArgs,
  PhaseResult,
  RecordArgs,
  TeamAnswer,
} from '../../domain/messages.ts';
import { SignerFault, type Signer } from '../../domain/signer.ts';
import { signedResult } from '../../executors/result-signature.ts';
import { createLocalSigner } from '../../signers/local.ts';
import { allow } from '../../dev/stack/allowlist.ts';
import { connectDatabase, type Database, type SqlValue } from '../../prisma/client.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { assertConsistent } from '../support/evidence.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { MovementApi, type Created } from '../support/own-stack.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';

const PAY = 'memory/pay';
const SIGN = 'memory/sign';
/** Sends nothing: its node looks, and has a minute for it. */
const LOOK = 'memory/look';
/** Names no address, so that its fence may be the short one. */
const PLAIN = 'memory/plain';
/** Has half a minute. */
const BRIEF = 'memory/brief';
/** Had rather fail than be tried a third time. */
const FEW = 'memory/few';
const FIRST_NONCE = 7;
const UNSIGNED = {
  chain_id: 31_337,
  to: '0x00000000000000000000000000000000000a11ce',
  value: '1',
  data: '0x',
  gas: '21000',
  max_fee_per_gas: '2',
  max_priority_fee_per_gas: '1',
};

/** Another address than the plan's. */
const PAID = `0x${'7'.repeat(40)}`;

const QUIET = new DefaultLogger('ERROR', () => undefined);

type Answers = { [Phase in 'submit' | 'recover' | 'observe']: () => Promise<ExecutionResult> };

/** An executor that counts its calls and answers as the test says. */
function countingExecutor() {
  const calls: Record<ExecutorPhase, number> = {
    preflight: 0,
    prepare: 0,
    submit: 0,
    observe: 0,
    recover: 0,
    cancel: 0,
  };
  const answers: Answers = {
    submit: async () => ({ next_state: 'SUBMITTED', external_ref: 'ref-1' }),
    recover: async () => ({ next_state: 'READY' }),
    observe: async () => ({
      next_state: 'COMPLETED',
      external_ref: 'ref-1',
      output: { paid: true },
    }),
  };
  const counted = <T>(phase: ExecutorPhase, answer: () => Promise<T>): Promise<T> => {
    calls[phase] += 1;
    return answer();
  };
  const executor: Executor = {
    descriptor: {
      executor_key: 'memory',
      kind: 'local',
      action_types: ['memory_pay', 'memory_sign'],
      provider: 'memory',
      same_key_safe: true,
      settle_seconds: 0,
      timeout_seconds: 60,
      in_process: true,
      sends: true,
      payees: [],
      not_payees: [],
      completion_assurances: ['provider_completed'],
    },
    preflight: () => counted('preflight', async () => null),
    prepare: ({ action_type }) =>
      counted('prepare', async () => ({
        next_state: 'SUBMITTING',
        prepared_action: { made: calls.prepare },
        ...(action_type === 'memory_sign'
          ? { sign_request: { kind: 'evm_transaction', payload: UNSIGNED } as const }
          : {}),
      })),
    submit: () => counted('submit', () => answers.submit()),
    observe: () => counted('observe', () => answers.observe()),
    recover: () => counted('recover', () => answers.recover()),
    cancel: () => counted('cancel', async () => ({ next_state: 'OBSERVING' })),
    health: async () => ({ state: 'up' }),
  };
  return { executor, calls, answers };
}

const key = createLocalSigner(
  { signer_key: 'slow', chain_family: 'evm', profile: 'slow' },
  `0x${'5'.repeat(64)}`,
);

/** A signer whose signing can be held up, as one that waits for a person or a slow key service. */
function slowSigner() {
  const control = { signed: 0, meanwhile: async (): Promise<void> => undefined };
  const signer: Signer = {
    ...key,
    signEvmTransaction: async (unsigned, nonce) => {
      control.signed += 1;
      await control.meanwhile();
      return key.signEvmTransaction(unsigned, nonce);
    },
  };
  return { signer, control };
}

/** What it signs for the node: the same bytes each time. */
const bytesOf = async (nonce: number): Promise<string> =>
  (await key.signEvmTransaction(UNSIGNED, nonce)).raw_tx;

let database: Awaited<ReturnType<typeof startOwnDatabase>>;
let db: Database;
let server: Listening;
let api: MovementApi;
let memory: ReturnType<typeof countingExecutor>;
let slow: ReturnType<typeof slowSigner>;
/** What happens while the long fence looks at what is to be signed. */
let checking: () => Promise<void>;
const log = pino({ level: 'silent' });

beforeAll(async () => {
  database = await startOwnDatabase();
  await allow({ SVC_DATABASE_URL: database.url }, [UNSIGNED.to]);
  db = connectDatabase({ url: database.url });
  const { executor } = countingExecutor();
  const { signer } = slowSigner();
  const app = createApi(
    {
      db,
      log,
      executors: { list: () => [executor.descriptor] },
      balances: NO_BALANCES,
      chains: NO_CHAINS,
      signers: { list: () => [signer.descriptor], get: () => signer },
      handOver: () => undefined,
      settings: {
        apiPrefix: '/v3',
        approvalTtlSeconds: 600,
        authEnabled: false,
        balanceStaleSeconds: 300,
        bridgeSnapshotMaxAgeSeconds: 3_600,
        edition: 'commercial',
        temporalNamespace: 'default',
        temporalUiUrl: 'http://127.0.0.1',
      },
    },
    routes,
  );
  server = await listen({ app, host: '127.0.0.1', port: 0, graceMs: 500 });
  api = new MovementApi(`http://127.0.0.1:${server.port}`);
  for (const [template_key, action_type] of [
    [PAY, 'memory_pay'],
    [SIGN, 'memory_sign'],
    [PLAIN, 'memory_pay'],
    [LOOK, 'memory_pay'],
    [BRIEF, 'memory_pay'],
    [FEW, 'memory_pay'],
  ]) {
    const node = {
      node_key: 'pay',
      ...(template_key === LOOK
        ? { node_kind: 'observe', timeout_policy: { observe_seconds: 60 } }
        : { node_kind: 'action' }),
      action_type,
      executor_selector: { action_type, provider: 'memory' },
      ...(template_key === SIGN
        ? { signer_selector: { chain_family: 'evm', profile: 'slow' } }
        : {}),
      has_side_effect: template_key !== LOOK,
      ...(template_key === BRIEF ? { timeout_policy: { execution_seconds: 30 } } : {}),
      ...(template_key === FEW ? { retry_policy: { max_attempts: 2 } } : {}),
      config: template_key === PLAIN ? {} : { destination_address: UNSIGNED.to },
    };
    await api.expect(201, 'POST', '/plan-templates', {
      template_key,
      version: 1,
      name: template_key,
      nodes: [node],
      edges: [],
      completion_policy: { completion_assurance: 'provider_completed' },
    });
  }
});
afterAll(async () => {
  await server?.close();
  await db?.$disconnect();
  await database?.close();
});
beforeEach(() => {
  memory = countingExecutor();
  slow = slowSigner();
  checking = async () => undefined;
});

/** The database, noting what the fence in one statement says. */
function watched(): { readonly watching: Database; readonly said: boolean[] } {
  const said: boolean[] = [];
  const watching = new Proxy(db, {
    get(target, name) {
      if (name !== 'sql') return Reflect.get(target, name) as unknown;
      return async (strings: TemplateStringsArray, ...values: SqlValue[]) => {
        const rows = await target.sql<{ answer?: { passed?: boolean } }>(strings, ...values);
        if (strings.join('').includes('try_fence(')) said.push(rows[0]?.answer?.passed === true);
        return rows;
      };
    },
  });
  return { watching, said };
}

/** The database, but the answers to statements with these texts are lost, in this order. */
function losing(...texts: readonly { readonly text: string; readonly done: boolean }[]): Database {
  const left = [...texts];
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'sql') return Reflect.get(target, name) as unknown;
      return async (strings: TemplateStringsArray, ...values: SqlValue[]) => {
        const [next] = left;
        if (next === undefined || !strings.join('').includes(next.text))
          return target.sql(strings, ...values);
        left.shift();
        if (next.done) await target.sql(strings, ...values);
        throw new Error('Connection terminated unexpectedly');
      };
    },
  });
}

/**
 * The activities of one worker, which has all the time in the world. Each call runs in an activity
 * context of its own.
 */
/** What the registry says where the executor is a team's own worker. */
let team: Partial<ExecutorDescriptor> = {};

function worker(
  its: Database = db,
  more: { readonly soonMs: number } = { soonMs: 600_000 },
): MovementActivities {
  const activities = createMovementActivities({
    db: its,
    log,
    executors: {
      get: () => memory.executor,
      describe: () => ({ ...memory.executor.descriptor, ...team }),
    },
    signers: { get: () => slow.signer },
    signing: {
      ...createEvmSigning(createEvmChains([])),
      check: async () => {
        await checking();
        return null;
      },
      nextNonce: async () => FIRST_NONCE,
    },
    chains: NO_CHAINS,
    ...more,
  });
  const inContext = <A, R>(activity: (args: A) => Promise<R>): ((args: A) => Promise<R>) => {
    return (args) =>
      new MockActivityEnvironment({}, { logger: QUIET }).run(activity, args) as Promise<R>;
  };
  return {
    load: inContext(activities.load),
    decide: inContext(activities.decide),
    expire: inContext(activities.expire),
    queueOf: inContext(activities.queueOf),
    leaveBuild: inContext(activities.leaveBuild),
    preflight: inContext(activities.preflight),
    prepare: inContext(activities.prepare),
    submit: inContext(activities.submit),
    observe: inContext(activities.observe),
    recover: inContext(activities.recover),
    cancel: inContext(activities.cancel),
    ask: inContext(activities.ask),
    record: inContext(activities.record),
  };
}

const loadOf = (movement: Created) =>
  worker().load({ movement_id: movement.movement_id, run_id: 'a-run' });

/** A movement that was approved and whose run has written its first decision. */
async function executing(
  template: string,
): Promise<{ movement: Created; args: PhaseArgs; begin: DecideArgs }> {
  const movement = await api.create(template, { amount: '5' });
  await api.approve(movement);
  const begin = await firstDecision(movement);
  await worker().decide(begin);
  return {
    movement,
    args: { movement_id: movement.movement_id, node_key: 'pay', attempt: 1 },
    begin,
  };
}

async function firstDecision(movement: Created): Promise<DecideArgs> {
  const view = await loadOf(movement);
  return {
    movement_id: movement.movement_id,
    version: view!.version,
    from: 'APPROVED',
    to: 'EXECUTING',
    ready: [],
    skip: [],
    stop: [],
    frontier: ['pay'],
    ended: false,
    failure: null,
  };
}

async function events(movement: Created): Promise<string[]> {
  const timeline = await api.timeline(movement.movement_id);
  assertConsistent(await api.movement(movement.movement_id), timeline);
  return timeline.map((event) => event.event_type);
}

async function node(movement: Created): Promise<{
  state: string;
  submit_epoch: number;
  external_ref: string | null;
  prepared_action: unknown;
  error_count: number;
  unanswered: number;
  error_code: string | null;
}> {
  const rows = await db.movementNode.findMany({ where: { movement_id: movement.movement_id } });
  const [row] = rows;
  return row!;
}

/** The time of the node's last send is over, and so is the venue's to show it. */
function sendIsOver(movement: Created, ago = 0): Promise<unknown> {
  return db.sql`UPDATE movement_nodes SET send_not_after = svc_now() - make_interval(secs => ${ago})
                WHERE movement_id = ${movement.movement_id}::uuid`;
}

/** Something that is waited for until the test lets it go. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe('a local activity that runs again', () => {
  test('a load changes nothing that the first one has not', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await api.approve(movement);
    const first = await loadOf(movement);
    const seen = await db.command.findMany({ where: { movement_id: movement.movement_id } });
    const { ttl_ms: _, ...again } = (await loadOf(movement))!;
    const { ttl_ms: __, ...before } = first!;
    expect(again).toEqual(before);
    expect(await db.command.findMany({ where: { movement_id: movement.movement_id } })).toEqual(
      seen,
    );
    expect(seen.every((command) => command.applied_at !== null)).toBe(true);
  });

  test('a second decide is refused by its version and writes no second timeline row', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await api.approve(movement);
    const decision = await firstDecision(movement);
    expect(await worker().decide(decision)).toEqual({
      applied: true,
      version: decision.version + 1,
    });
    const once = await events(movement);
    expect(await worker().decide(decision)).toEqual({
      applied: false,
      version: decision.version + 1,
    });
    expect(await events(movement)).toEqual(once);
    expect(once.filter((type) => type === 'frontier_advanced')).toHaveLength(1);
  });

  test('of eight decides at once exactly one is written, also where the state stays', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await api.approve(movement);
    const first = await firstDecision(movement);
    const second: DecideArgs = { ...first, version: first.version + 1, from: 'EXECUTING' };
    for (const decision of [first, second]) {
      // What is left to write of the second is the frontier.
      await db.sql`UPDATE movements SET current_frontier = '{}'
        WHERE movement_id = ${movement.movement_id}::uuid`;
      const all = await Promise.all(Array.from({ length: 8 }, () => worker().decide(decision)));
      expect(all.filter(({ applied }) => applied)).toHaveLength(1);
      expect((await loadOf(movement))!.version).toBe(decision.version + 1);
    }
    expect((await events(movement)).filter((type) => type === 'frontier_advanced')).toHaveLength(1);
  });

  test('a decide that does not follow from what is stored is refused', async () => {
    const waiting = await api.create(PAY, { amount: '5' });
    const { movement } = await executing(PAY);
    const from = async (of: Created, made: Partial<DecideArgs>): Promise<DecideArgs> => {
      const { version, state } = (await loadOf(of))!;
      return { ...(await firstDecision(of)), version, from: state, ...made };
    };
    const pay = [{ node_key: 'pay', attempt: 1 }];
    const failure = { node_key: 'pay', error_code: 'MADE_UP' };
    const made = [
      await from(waiting, { to: 'APPROVED', ready: pay }),
      await from(waiting, { to: 'EXECUTING', ready: pay }),
      await from(waiting, { to: 'CANCELLED', ended: true }),
      await from(movement, { to: 'EXECUTING', frontier: ['pay', 'elsewhere'] }),
      await from(movement, { to: 'COMPLETED', ended: true, frontier: [] }),
      await from(movement, { to: 'FAILED', ended: true, frontier: [], failure }),
      await from(movement, { to: 'MANUAL_INTERVENTION' }),
      await from(movement, { to: 'EXECUTING', stop: pay }),
    ];
    const before = await Promise.all([waiting, movement].map(events));
    for (const decision of made)
      expect(await worker().decide(decision)).toEqual({
        applied: false,
        version: decision.version,
      });
    expect(await Promise.all([waiting, movement].map(events))).toEqual(before);
    expect(await node(waiting)).toMatchObject({ state: 'BLOCKED' });
    expect(await node(movement)).toMatchObject({ state: 'READY' });
  });

  test('a decide that a command has overtaken is refused', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    const { version } = (await loadOf(movement))!;
    await api.approve(movement);
    const stale = { ...(await firstDecision(movement)), version };
    expect((await worker().decide(stale)).applied).toBe(false);
    expect((await api.movement(movement.movement_id)).request_state).toBe('APPROVED');
  });

  test('expire does nothing before its time, and one thing after it', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await worker().expire({ movement_id: movement.movement_id });
    expect((await api.movement(movement.movement_id)).request_state).toBe('PENDING_APPROVAL');
    await db.sql`UPDATE movements SET expires_at = svc_now()
      WHERE movement_id = ${movement.movement_id}::uuid`;
    await Promise.all([
      worker().expire({ movement_id: movement.movement_id }),
      worker().expire({ movement_id: movement.movement_id }),
    ]);
    await worker().expire({ movement_id: movement.movement_id });
    expect(await events(movement)).toEqual(['movement_created', 'request_expired']);
    expect(
      await db.auditEvent.count({
        where: { action: 'movement.expire', entity_key: movement.movement_id },
      }),
    ).toBe(1);
  });
});

describe('a phase that runs again', () => {
  test('returns what is recorded and calls no executor', async () => {
    const { movement, args } = await executing(PAY);
    const { preflight, prepare, submit, observe, recover } = worker();
    for (const [phase, next] of [
      [preflight, 'continue'],
      [prepare, 'continue'],
      [submit, 'continue'],
      [observe, 'settled'],
    ] as const) {
      expect((await phase(args)).next).toBe(next);
      const recorded = await events(movement);
      // The same phase again, and every one before it, as a reset of the run would have it.
      for (const earlier of [preflight, prepare, submit, observe].slice(
        0,
        [preflight, prepare, submit, observe].indexOf(phase) + 1,
      )) {
        const again = await earlier(args);
        expect(again.next).not.toBe('wait');
        if (phase !== earlier || phase === observe) continue;
        expect(again.state).toBe((await node(movement)).state);
      }
      if (phase !== submit) expect(await events(movement)).toEqual(recorded);
    }
    expect((await recover(args)).next).toBe('settled');
    expect(memory.calls).toEqual({
      preflight: 1,
      prepare: 1,
      submit: 1,
      observe: 1,
      recover: 0,
      cancel: 0,
    });
    expect((await node(movement)).prepared_action).toEqual({ made: 1 });
  });

  test('of an attempt that is over stops', async () => {
    const { args } = await executing(PAY);
    const { preflight, prepare, submit, observe, recover } = worker();
    for (const phase of [preflight, prepare, submit, observe, recover]) {
      expect((await phase({ ...args, attempt: 2 })).next).toBe('stop');
    }
    expect(Object.values(memory.calls).every((count) => count === 0)).toBe(true);
  });

  test.each(['preflight', 'prepare'] as const)(
    'a %s without an answer is repeated without limit, where its plan sets none',
    async (phase) => {
      const silent = new ExecutorFault('unreachable', 'AWAY', 'no answer');
      const { executor } = memory;
      const away = { ...executor, [phase]: () => Promise.reject(silent) };
      memory = { ...memory, executor: away };
      const { movement, args } = await executing(PAY);
      const chained = { ...args, chained: true };
      for (let time = 1; time <= 40; time += 1)
        await expect(worker().preflight(chained)).rejects.toMatchObject({ type: 'AWAY' });
      expect(await node(movement)).toMatchObject({
        ...{ state: 'READY', error_count: 0, unanswered: 40, error_code: 'AWAY' },
      });
      const few = await executing(FEW);
      const hurried = { ...few.args, chained: true };
      await expect(worker().preflight(hurried)).rejects.toMatchObject({ type: 'AWAY' });
      expect(await worker().preflight(hurried)).toMatchObject({ error_code: 'AWAY' });
      expect(await node(few.movement)).toMatchObject({ state: 'FAILED', unanswered: 0 });

      memory = { ...memory, executor };
      await worker().preflight(chained);
      expect(await node(movement)).toMatchObject({ state: 'READY', unanswered: 0 });
      expect(await worker().submit(chained)).toMatchObject({ state: 'COMPLETED' });
      expect(memory.calls.submit).toBe(1);
    },
  );

  test.each([
    {
      which: 'the short fence',
      template: PLAIN,
      known: { executor_key: 'memory' },
      short: [false, true],
    },
    { which: 'the long fence', template: PAY, known: {}, short: [] },
  ])(
    'two submits at once send once behind $which, and the loser never waits for a wake that never comes',
    async ({ template, known, short }) => {
      const { movement, args: place } = await executing(template);
      const args = { ...place, ...known };
      await worker().preflight(args);
      await worker().prepare(args);
      const { watching, said } = watched();
      const both = await Promise.all([
        worker(watching).submit(args),
        worker(watching).submit(args),
      ]);
      // Which way the one that sent has taken.
      expect([...said].sort()).toEqual(short);
      expect(memory.calls.submit).toBe(1);
      expect(both.map(({ next }) => next)).not.toContain('wait');
      expect((await events(movement)).filter((type) => type === 'node_submitting')).toHaveLength(1);
    },
  );
});

// No look may have been made in time: every worker was away.
test.each<[string, Answers['observe'], Partial<PhaseResult>]>([
  [
    'finds what has come',
    async () => ({ next_state: 'COMPLETED', external_ref: 'ref-1' }),
    { state: 'COMPLETED' },
  ],
  [
    'finds nothing',
    async () => ({ next_state: 'OBSERVING' }),
    { state: 'FAILED', error_code: 'NODE_TIMED_OUT' },
  ],
  [
    'is not answered',
    () => Promise.reject(new ExecutorFault('timeout', 'AWAY', 'away')),
    { state: 'FAILED', error_code: 'NODE_TIMED_OUT' },
  ],
])('an observer whose time is over looks once more and %s', async (_what, observe, comes) => {
  const { movement, args } = await executing(LOOK);
  await worker().preflight(args);
  await db.sql`UPDATE movement_nodes SET started_at = svc_now() - interval '1 hour'
    WHERE movement_id = ${movement.movement_id}::uuid`;
  memory.answers.observe = observe;
  expect(await worker().observe(args)).toMatchObject(comes);
  expect(memory.calls.observe).toBe(1);
  expect((await node(movement)).state).toBe(comes.state);
});

describe.each([
  {
    which: 'the short fence',
    template: PLAIN,
    known: { executor_key: 'memory' },
    passes: [true],
    stops: [false],
  },
  { which: 'the long fence', template: PAY, known: {}, passes: [], stops: [] },
])('$which', ({ template, known, passes, stops }) => {
  const preparedNode = async (): Promise<{ movement: Created; args: PhaseArgs }> => {
    const { movement, args } = await executing(template);
    await worker().preflight({ ...args, chained: true });
    return { movement, args: { ...args, ...known } };
  };
  const registered = (status: string): Promise<unknown> =>
    db.sql`INSERT INTO executors (executor_key, kind, status, action_types, created_at, updated_at)
           VALUES ('memory', 'local', ${status}, ARRAY['memory_pay'], svc_now(), svc_now())
           ON CONFLICT (executor_key) DO UPDATE SET status = excluded.status`;

  test('lets a node through that nothing forbids', async () => {
    const { args } = await preparedNode();
    const { watching, said } = watched();
    expect(await worker(watching).submit(args)).toMatchObject({ state: 'SUBMITTED' });
    expect(said).toEqual(passes);
  });

  test('stops a node whose executor is disabled', async () => {
    const { movement, args } = await preparedNode();
    const { watching, said } = watched();
    await registered('disabled');
    try {
      expect(await worker(watching).submit(args)).toMatchObject({
        state: 'FAILED',
        error_code: 'EXECUTOR_DISABLED',
      });
    } finally {
      await registered('active');
    }
    expect(said).toEqual(stops);
    expect(memory.calls.submit).toBe(0);
    expect(await events(movement)).not.toContain('node_submitting');
  });

  test('stops a node that is not prepared, and has it prepared', async () => {
    const { args: place } = await executing(template);
    await worker().preflight(place);
    const { watching, said } = watched();
    expect(await worker(watching).submit({ ...place, ...known })).toMatchObject({
      state: 'READY',
      next: 'again',
      phase: 'preflight',
    });
    expect(said).toEqual(stops);
    expect(memory.calls.submit).toBe(0);
  });

  test('stops a node whose earlier send recovery has to look for first', async () => {
    const { movement, args } = await preparedNode();
    const { watching, said } = watched();
    await db.sql`UPDATE movement_nodes SET recover_first = true
      WHERE movement_id = ${args.movement_id}::uuid`;
    expect(await worker(watching).submit(args)).toMatchObject({ state: 'READY', next: 'recover' });
    expect(said).toEqual(stops);
    expect(memory.calls.submit).toBe(0);
    expect(await events(movement)).not.toContain('node_submitting');
  });
});

describe("a record of a team's answer that runs again", () => {
  const SECRET = 'what only the team has';
  const folder = mkdtempSync(join(tmpdir(), 'team-secret-'));
  beforeAll(() => {
    const result_secret_file = join(folder, 'secret');
    writeFileSync(result_secret_file, SECRET);
    team = { kind: 'task_queue', task_queue: 'memory', in_process: false, result_secret_file };
  });
  afterAll(() => {
    team = {};
    rmSync(folder, { recursive: true });
  });
  const openQuestion = async (args: PhaseArgs, phase: Phase): Promise<RecordArgs> => {
    const answer = await worker().ask({ ...args, phase });
    if ('result' in answer)
      throw new Error(`${phase} calls no worker: ${JSON.stringify(answer.result)}`);
    const { epoch, errors, question } = answer.ask;
    return {
      ...args,
      phase,
      epoch,
      ...(errors === undefined ? {} : { errors }),
      ...(question === undefined ? {} : { question }),
      given: { answer: null },
    };
  };
  /** A node behind its fence, and the open question of its submit. */
  const fenced = async (): Promise<{
    movement: Created;
    args: PhaseArgs;
    submitted: RecordArgs;
  }> => {
    const { movement, args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    return { movement, args, submitted: await openQuestion(args, 'submit') };
  };

  test.each<[string, TeamAnswer, Partial<PhaseResult>]>([
    [
      'SUBMITTED',
      { answer: { next_state: 'SUBMITTED', external_ref: 'ref-1' } },
      { state: 'SUBMITTED', next: 'observe' },
    ],
    ['COMPLETED', { answer: { next_state: 'COMPLETED' } }, { state: 'COMPLETED', next: 'settled' }],
    [
      'FAILED',
      { answer: { next_state: 'FAILED', error_code: 'NO' } },
      { state: 'FAILED', next: 'settled', error_code: 'NO' },
    ],
    [
      'no worker that took it',
      { fault: { kind: 'not_started', code: 'EXECUTOR_NOT_POLLING' } },
      { state: 'READY', next: 'submit' },
    ],
  ])(
    'of a submit that came to %s says the same and writes nothing',
    async (_what, outcome, says) => {
      const { movement, args, submitted } = await fenced();
      const { movement_id, node_key, attempt } = args;
      const call = {
        idempotency_key: `${movement_id}:${node_key}:${String(attempt)}`,
        phase: 'submit',
      } as const;
      const answer = 'answer' in outcome ? outcome.answer : null;
      const signed = answer === null ? outcome : { answer: signedResult(SECRET, call, answer) };
      const first = await worker().record({ ...submitted, given: signed });
      const [recorded, row] = [await events(movement), await node(movement)];
      const again = await worker().record({ ...submitted, given: signed });
      expect(again).toMatchObject(says);
      expect(again.delay_ms).toBe(first.delay_ms);
      expect(await events(movement)).toEqual(recorded);
      expect(await node(movement)).toEqual(row);
    },
  );

  test('of a recovery that found nothing sends once more, not twice', async () => {
    const { movement, args, submitted } = await fenced();
    expect(
      (
        await worker().record({
          ...submitted,
          given: { fault: { kind: 'timeout', code: 'EXECUTOR_TIMEOUT' } },
        })
      ).next,
    ).toBe('recover');
    await db.sql`UPDATE movement_nodes SET send_not_after = svc_now()
      WHERE movement_id = ${args.movement_id}::uuid`;
    const recovered = {
      ...(await openQuestion(args, 'recover')),
      given: { answer: { next_state: 'READY' } },
    } as const;
    const first = await worker().record(recovered);
    const recorded = await events(movement);
    expect(first).toMatchObject({ state: 'READY', next: 'submit' });
    expect(await worker().record(recovered)).toEqual(first);
    expect(await events(movement)).toEqual(recorded);
    expect(await node(movement)).toMatchObject({ error_count: 1 });
  });

  test('of an error counts it once', async () => {
    const { movement, args } = await executing(PAY);
    const outcome = { fault: { kind: 'server_error', code: 'AWAY' } } as const;
    const failed = { ...(await openQuestion(args, 'preflight')), given: outcome };
    const first = await worker().record(failed);
    expect(first).toMatchObject({ next: 'again' });
    expect(await worker().record(failed)).toMatchObject({
      next: 'again',
      delay_ms: first.delay_ms,
    });
    expect(await node(movement)).toMatchObject({ state: 'READY', error_count: 1 });
    // The next error is another one.
    await worker().record({ ...(await openQuestion(args, 'preflight')), given: outcome });
    expect(await node(movement)).toMatchObject({ state: 'READY', error_count: 2 });
  });

  test('of a cancel is not waited for where the request cannot be made', async () => {
    const { executor } = memory;
    const prepare: Executor['prepare'] = async () => ({
      next_state: 'SUBMITTING',
      prepared_action: {},
    });
    memory = { ...memory, executor: { ...executor, prepare } };
    const { args } = await executing(SIGN);
    await worker().preflight({ ...args, chained: true });
    await openQuestion(args, 'submit');
    await db.sql`UPDATE movements SET request_state = 'CANCELLED'
      WHERE movement_id = ${args.movement_id}::uuid`;
    const cancel = { ...args, phase: 'cancel' } as const;
    expect(await worker().ask(cancel)).toHaveProperty('ask');
    const gone = () => Promise.reject(new SignerFault('SIGNER_UNREACHABLE', 'it is down'));
    slow.signer = { ...slow.signer, identity: gone, recentIdentity: gone };
    expect(await worker().ask(cancel)).toEqual({
      result: { state: 'OBSERVING', next: 'stop', error_code: null },
    });
  });

  test('of a phase that the node has left behind says where it is now', async () => {
    const { args } = await executing(PAY);
    const passing = await openQuestion(args, 'preflight');
    expect(await worker().record(passing)).toMatchObject({ next: 'continue' });
    expect(await worker().record(passing)).toMatchObject({ state: 'READY', next: 'continue' });
    await worker().prepare(args);
    await worker().submit(args);
    // Behind the fence the epoch is another one: what holds is said when the phase begins anew.
    expect(await worker().record(passing)).toMatchObject({ next: 'again', delay_ms: 0 });
    expect(await worker().ask({ ...args, phase: 'preflight' })).toMatchObject({
      result: { state: 'SUBMITTED', next: 'observe' },
    });
  });
});

describe('phases that are chained in one activity', () => {
  test('are each recorded, and call no executor again', async () => {
    const { movement, args } = await executing(PAY);
    const { preflight, submit } = worker();
    const chained = { ...args, chained: true };
    expect(await preflight(chained)).toMatchObject({
      state: 'READY',
      next: 'continue',
      phase: 'prepare',
    });
    expect((await events(movement)).slice(-2)).toEqual(['node_preflight_passed', 'node_prepared']);
    expect(await preflight(chained)).toMatchObject({ next: 'continue', phase: 'prepare' });
    expect(await submit(chained)).toMatchObject({
      state: 'COMPLETED',
      next: 'settled',
      phase: 'observe',
    });
    expect((await events(movement)).slice(-3)).toEqual([
      'node_submitting',
      'node_submitted',
      'node_completed',
    ]);
    expect((await submit(chained)).next).toBe('settled');
    expect(memory.calls).toEqual({
      preflight: 1,
      prepare: 1,
      submit: 1,
      observe: 1,
      recover: 0,
      cancel: 0,
    });
  });

  describe('while the database is away for a moment', () => {
    const prepared = async () => {
      const { movement, args: place } = await executing(PLAIN);
      const args = { ...place, executor_key: 'memory' };
      await worker().preflight({ ...args, chained: true });
      return { movement, args };
    };
    const written = { text: 'apply_transition(', done: true };
    const refused = { text: 'apply_transition(', done: false };
    const fenced = { text: 'try_fence(', done: true };
    const search = { text: 'FROM timeline_events e JOIN movement_nodes', done: false };

    test('the answer of a send is kept and written once it is back, and no recovery is needed', async () => {
      const { movement, args } = await prepared();
      const db = losing(refused, refused);
      expect(await worker(db).submit(args)).toMatchObject({ state: 'SUBMITTED', next: 'continue' });
      expect(memory.calls).toMatchObject({ submit: 1, recover: 0 });
      expect(await node(movement)).toMatchObject({ state: 'SUBMITTED', external_ref: 'ref-1' });
    });

    test('an answer that was written although no one heard of it is there, once', async () => {
      const { movement, args } = await prepared();
      expect((await worker(losing(written)).submit(args)).next).toBe('recover');
      expect(await worker().recover(args)).toMatchObject({ state: 'SUBMITTED' });
      expect(memory.calls).toMatchObject({ submit: 1, recover: 0 });
      expect(await node(movement)).toMatchObject({ state: 'SUBMITTED', external_ref: 'ref-1' });
    });

    test('a fence that no one heard of is found again, and its send goes out, once', async () => {
      const { movement, args } = await prepared();
      const db = losing(fenced, search, search);
      expect(await worker(db).submit(args)).toMatchObject({ state: 'SUBMITTED', next: 'continue' });
      expect(memory.calls).toMatchObject({ submit: 1, recover: 0 });
      expect((await node(movement)).state).toBe('SUBMITTED');
    });

    test('a fence that was not written lets nothing out', async () => {
      const { movement, args } = await prepared();
      await expect(worker(losing({ ...fenced, done: false })).submit(args)).rejects.toThrow();
      expect(memory.calls.submit).toBe(0);
      expect((await node(movement)).state).toBe('READY');
    });
  });

  test('a prepare that breaks leaves the passed preflight behind', async () => {
    const { movement, args } = await executing(PAY);
    const { executor } = memory;
    const broken = new ExecutorFault('server_error', 'AWAY', 'not now');
    memory = { ...memory, executor: { ...executor, prepare: () => Promise.reject(broken) } };
    await expect(worker().preflight({ ...args, chained: true })).rejects.toMatchObject({
      type: 'AWAY',
    });
    expect(await node(movement)).toMatchObject({
      state: 'READY',
      preflight_passed: true,
      error_count: 1,
      prepared_action: null,
    });
    memory = { ...memory, executor };
    expect(await worker().preflight({ ...args, chained: true })).toMatchObject({
      next: 'continue',
      phase: 'prepare',
    });
    expect(memory.calls).toMatchObject({ preflight: 1, prepare: 1 });
  });

  test.each([
    {
      which: 'the short fence',
      template: PLAIN,
      when: 'before its send',
      known: { executor_key: 'memory' },
      short: [true],
    },
    { which: 'the long fence', template: SIGN, when: 'before its send', known: {}, short: [] },
    {
      which: 'the long fence',
      template: SIGN,
      when: 'while the fence looks at it',
      known: {},
      short: [],
    },
  ])(
    'an abandoned prepare that ends $when changes nothing of what $which sends',
    async ({ template, when, known, short }) => {
      const { movement, args: place } = await executing(template);
      const args = { ...place, ...known };
      const { executor } = memory;
      const late = gate();
      const sent: unknown[] = [];
      let prepares = 0;
      memory = {
        ...memory,
        executor: {
          ...executor,
          prepare: async () => {
            prepares += 1;
            const made = prepares === 1 ? 'abandoned' : 'regular';
            if (prepares === 1) await late.opened;
            const payload = { ...UNSIGNED, value: made === 'regular' ? '1' : '2' };
            const signs =
              template === SIGN
                ? { sign_request: { kind: 'evm_transaction', payload } as const }
                : {};
            return { next_state: 'SUBMITTING', prepared_action: { made }, ...signs };
          },
          submit: async (input, call) => {
            sent.push(input.prepared_action);
            return executor.submit(input, call);
          },
        },
      };
      const abandoned = worker()
        .preflight({ ...args, chained: true })
        .catch((error: unknown) => String(error));
      while (prepares === 0) await sleep(5);
      expect(await worker().preflight({ ...args, chained: true })).toMatchObject({
        next: 'continue',
        phase: 'prepare',
      });
      const end = async (): Promise<void> => {
        late.open();
        expect(await abandoned).toMatch(/changed while it was worked on/);
      };
      if (when === 'before its send') await end();
      else checking = end;
      const { watching, said } = watched();
      expect(await worker(watching).submit(args)).toMatchObject({ state: 'SUBMITTED' });
      expect(said).toEqual(short);
      expect(prepares).toBe(2);
      expect(sent).toEqual([{ made: 'regular' }]);
      expect((await node(movement)).prepared_action).toEqual({ made: 'regular' });
      const transactions = await db.evmTransaction.findMany({
        where: { movement_id: movement.movement_id },
      });
      expect(transactions.map(({ unsigned }) => unsigned)).toEqual(
        template === SIGN ? [expect.objectContaining({ value: '1' })] : [],
      );
    },
  );

  test.each([true, false])(
    'a prepare that says COMPLETED completes nothing: what is sent passes the fence (chained: %s)',
    async (chained) => {
      const { movement, args } = await executing(PAY);
      const { executor } = memory;
      memory = {
        ...memory,
        executor: {
          ...executor,
          prepare: async () => ({ next_state: 'COMPLETED', external_ref: 'paid' }),
        },
      };
      const { preflight, prepare } = worker();
      const refused = chained
        ? preflight({ ...args, chained })
        : preflight(args).then(() => prepare(args));
      await expect(refused).rejects.toMatchObject({ type: 'EXECUTOR_PROTOCOL_ERROR' });
      expect(await node(movement)).toMatchObject({
        state: 'READY',
        external_ref: null,
        prepared_action: null,
        error_count: 1,
      });
    },
  );

  test.each([
    ['fails', () => Promise.reject(new Error('the look broke'))],
    ['never answers', () => new Promise<never>(() => undefined)],
  ])('a first look that %s takes nothing back of the send', async (_how, observe) => {
    const { movement, args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    const { answers, executor } = memory;
    const descriptor = { ...executor.descriptor, timeout_seconds: 0.5 };
    memory = { ...memory, executor: { ...executor, descriptor } };
    const sound = answers.observe;
    answers.observe = observe;
    expect(await worker().submit({ ...args, chained: true })).toMatchObject({
      state: 'SUBMITTED',
      next: 'observe',
    });
    expect(await node(movement)).toMatchObject({ state: 'SUBMITTED', external_ref: 'ref-1' });
    answers.observe = sound;
    expect((await worker().observe(args)).state).toBe('COMPLETED');
    expect(memory.calls.submit).toBe(1);
  });

  test('a decision that is written twice begins nothing the second time', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await api.approve(movement);
    const begin = { movement_id: movement.movement_id, node_key: 'pay', attempt: 1 };
    const decision = { ...(await firstDecision(movement)), begin };
    expect(await worker().decide(decision)).toMatchObject({
      applied: true,
      begun: { next: 'continue', phase: 'prepare' },
    });
    expect(await worker().decide(decision)).toEqual({
      applied: false,
      version: decision.version + 1,
    });
    expect(memory.calls).toMatchObject({ preflight: 1, prepare: 1 });
  });
});

describe('a node in one activity', () => {
  const RECORDED = [
    'node_preflight_passed',
    'node_prepared',
    'node_submitting',
    'node_submitted',
    'node_completed',
  ];
  const stateOf = async ({ movement_id }: Created): Promise<unknown> =>
    (await api.movement(movement_id)).request_state;
  const versionOf = async ({ movement_id }: Created): Promise<number> =>
    (await db.movement.findUniqueOrThrow({ where: { movement_id } })).version;

  test('ends its movement in the write of its completion, once', async () => {
    const { movement, args } = await executing(PAY);
    const version = await versionOf(movement);
    const whole = { ...args, whole: true, decides: true };
    expect(await worker().submit(whole)).toMatchObject({
      state: 'COMPLETED',
      next: 'settled',
      advance: { version: version + 1, decision: { version, to: 'COMPLETED', ended: true } },
    });
    expect(await stateOf(movement)).toBe('COMPLETED');
    const recorded = await events(movement);
    expect(recorded.slice(-6)).toEqual([...RECORDED, 'request_completed']);
    const again = await worker().submit(whole);
    expect(again).toMatchObject({ state: 'COMPLETED', next: 'settled' });
    expect(again).not.toHaveProperty('advance');
    expect(await events(movement)).toEqual(recorded);
    expect(memory.calls).toEqual({
      ...{ preflight: 1, prepare: 1, submit: 1, observe: 1 },
      ...{ recover: 0, cancel: 0 },
    });
  });

  test('looks what holds where its run decided for another version', async () => {
    const { movement, args, begin } = await executing(PAY);
    const version = await versionOf(movement);
    const then: DecideArgs = { ...begin, from: 'EXECUTING', version: version - 1 };
    expect(await worker().submit({ ...args, whole: true, decides: true, then })).toMatchObject({
      advance: { decision: { version, to: 'COMPLETED' } },
    });
    expect(await stateOf(movement)).toBe('COMPLETED');
  });

  test('writes no decision that was made up for it, but the one that follows', async () => {
    const { movement, args, begin } = await executing(PAY);
    const version = await versionOf(movement);
    const failure = { node_key: 'pay', error_code: 'MADE_UP' };
    const then: DecideArgs = { ...begin, from: 'EXECUTING', to: 'FAILED', version, failure };
    expect(await worker().submit({ ...args, whole: true, decides: true, then })).toMatchObject({
      advance: { decision: { version, to: 'COMPLETED', failure: null } },
    });
    expect(await stateOf(movement)).toBe('COMPLETED');
  });

  test.each(['MANUAL_INTERVENTION', 'WAITING_MANUAL_ACTION'])(
    'leaves the decision of a movement in %s to its run',
    async (state) => {
      const { movement, args } = await executing(PAY);
      await worker().preflight({ ...args, chained: true });
      await worker().submit(args);
      const id = movement.movement_id;
      await db.sql`UPDATE movements SET request_state = ${state} WHERE movement_id = ${id}::uuid`;
      const seen = await worker().observe({ ...args, decides: true });
      expect(seen).toMatchObject({ state: 'COMPLETED', next: 'settled' });
      expect(seen).not.toHaveProperty('advance');
      expect(await stateOf(movement)).toBe(state);
    },
  );

  test('gives up between two phases once it has no time left, and what was said is recorded', async () => {
    const { movement, args } = await executing(PAY);
    const [late, whole] = [worker(db, { soonMs: 0 }), { ...args, whole: true, decides: true }];
    expect(await late.submit(whole)).toMatchObject({ next: 'continue', phase: 'preflight' });
    expect(await late.submit(whole)).toMatchObject({ next: 'continue', phase: 'prepare' });
    expect(memory.calls).toMatchObject({ preflight: 1, prepare: 1, submit: 0 });
    expect(await late.submit({ ...args, chained: true })).toMatchObject({
      state: 'SUBMITTED',
      next: 'observe',
    });
    expect((await events(movement)).slice(-4)).toEqual(RECORDED.slice(0, 4));
    expect(memory.calls).toMatchObject({ submit: 1, observe: 0 });
  });

  test.each(['preflight', 'prepare'] as const)(
    'leaves a %s that fails to an activity that repeats it, and counts it once',
    async (phase) => {
      const { movement, args } = await executing(PAY);
      const broken = new ExecutorFault('server_error', 'AWAY', 'not now');
      const { executor } = memory;
      memory = { ...memory, executor: { ...executor, [phase]: () => Promise.reject(broken) } };
      expect(await worker().submit({ ...args, whole: true })).toEqual({
        state: 'READY',
        next: 'again',
        phase: 'preflight',
        error_code: null,
        delay_ms: 500,
      });
      expect(await node(movement)).toMatchObject({ state: 'READY', error_count: 1 });
      expect(memory.calls.submit).toBe(0);
    },
  );

  test('whose prepare ends after another worker has prepared and before its send sends what that one stored', async () => {
    const { movement, args } = await executing(PAY);
    const { executor } = memory;
    const late = gate();
    const sent: unknown[] = [];
    let prepares = 0;
    memory = {
      ...memory,
      executor: {
        ...executor,
        prepare: async () => {
          prepares += 1;
          const made = prepares === 1 ? 'late' : 'stored';
          if (prepares === 1) await late.opened;
          return { next_state: 'SUBMITTING', prepared_action: { made } };
        },
        submit: async (input, call) => {
          sent.push(input.prepared_action);
          return executor.submit(input, call);
        },
      },
    };
    const slowly = worker().submit({ ...args, whole: true });
    while (prepares === 0) await sleep(5);
    await worker().preflight({ ...args, chained: true });
    late.open();
    // It has to start again, and finds what is stored.
    expect(await slowly).toMatchObject({ next: 'again', phase: 'preflight', delay_ms: 0 });
    expect(await worker().submit({ ...args, whole: true })).toMatchObject({ state: 'COMPLETED' });
    expect(sent).toEqual([{ made: 'stored' }]);
    expect((await node(movement)).prepared_action).toEqual({ made: 'stored' });
  });

  test('of two workers at once one sends', async () => {
    const { movement, args } = await executing(PAY);
    const whole = { ...args, whole: true, decides: true };
    const answers = await Promise.all([worker().submit(whole), worker().submit(whole)]);
    expect(answers.map(({ next }) => next)).toContain('settled');
    expect(memory.calls.submit).toBe(1);
    expect((await events(movement)).filter((event) => event === 'node_submitting')).toHaveLength(1);
  });

  test('that only looks is checked once, however often it looks', async () => {
    const { movement, args } = await executing(LOOK);
    const whole = { ...args, whole: true, decides: true };
    memory.answers.observe = async () => ({ next_state: 'OBSERVING', retry_after_seconds: 1 });
    for (const _look of [1, 2])
      await expect(worker().preflight(whole)).rejects.toMatchObject({ type: 'NOT_YET' });
    memory.answers.observe = async () => ({ next_state: 'COMPLETED' });
    expect(await worker().preflight(whole)).toMatchObject({
      state: 'COMPLETED',
      advance: { decision: { to: 'COMPLETED' } },
    });
    expect(memory.calls).toMatchObject({ preflight: 1, observe: 3, submit: 0 });
    expect(await stateOf(movement)).toBe('COMPLETED');
  });

  test('that only looks and is refused by its preflight looks at nothing', async () => {
    const { args } = await executing(LOOK);
    const { executor } = memory;
    const preflight = async () => ({ next_state: 'FAILED', error_code: 'NO' }) as const;
    memory = { ...memory, executor: { ...executor, preflight } };
    expect(await worker().preflight({ ...args, whole: true })).toMatchObject({
      state: 'FAILED',
      phase: 'preflight',
    });
    expect(memory.calls.observe).toBe(0);
  });

  test('keeps what its prepare leaves behind, once, also where the fence is refused at first', async () => {
    const { executor } = memory;
    const artifacts = [{ kind: 'quote', data: { price: '1' } }];
    const prepare = async () => ({ next_state: 'SUBMITTING', artifacts }) as const;
    memory = { ...memory, executor: { ...executor, prepare } };
    for (const mode of ['normal', 'frozen']) {
      const { movement, args } = await executing(PAY);
      const { movement_id } = movement;
      await db.sql`UPDATE cutover SET mode = ${mode}`;
      const { next } = await worker().submit({ ...args, whole: true });
      await db.sql`UPDATE cutover SET mode = 'normal'`;
      expect([mode, next]).toEqual([mode, mode === 'normal' ? 'settled' : 'wait']);
      const kept = await db.artifact.findMany({ where: { movement_id } });
      expect(kept.map(({ kind }) => kind)).toEqual(['quote']);
    }
  });

  test('whose time to be sent has passed while it was prepared is not sent', async () => {
    const { movement, args } = await executing(BRIEF);
    const { movement_id } = movement;
    await db.sql`UPDATE movement_nodes SET started_at = svc_now() - interval '29.5 seconds'
      WHERE movement_id = ${movement_id}::uuid`;
    const { executor } = memory;
    const prepare = async () => {
      await sleep(700);
      return { next_state: 'SUBMITTING' } as const;
    };
    memory = { ...memory, executor: { ...executor, prepare } };
    expect(await worker().submit({ ...args, whole: true })).toMatchObject({
      state: 'FAILED',
      error_code: 'NODE_TIMED_OUT',
    });
    expect(memory.calls.submit).toBe(0);
  });
});

describe('a load that decides', () => {
  test('answers the movement as its decision has left it, once', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await api.approve(movement);
    const query = { movement_id: movement.movement_id, run_id: 'a-run', decides: true } as const;
    const before = await loadOf(movement);
    const view = await worker().load(query);
    expect(before).toMatchObject({ state: 'APPROVED' });
    expect(view).toMatchObject({ state: 'EXECUTING', version: before!.version + 1 });
    expect(await worker().load(query)).toEqual({ ...view, ttl_ms: expect.any(Number) as number });
    expect(await loadOf(movement)).toEqual({ ...view, ttl_ms: expect.any(Number) as number });
  });

  test('decides nothing of what waits for an approval, and nothing of what was cancelled', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    const query = { movement_id: movement.movement_id, run_id: 'a-run', decides: true } as const;
    const waiting = await loadOf(movement);
    expect(await worker().load(query)).toMatchObject({
      state: 'PENDING_APPROVAL',
      version: waiting!.version,
    });
    const other = await executing(PAY);
    const { movement_id } = other.movement;
    await db.sql`
      UPDATE movements SET request_state = 'CANCELLED' WHERE movement_id = ${movement_id}::uuid`;
    const cancelled = await loadOf(other.movement);
    const { version } = cancelled!;
    expect(await worker().load({ ...query, movement_id })).toMatchObject({
      state: 'CANCELLED',
      version,
    });
  });
});

describe('an executor whose own code breaks', () => {
  const breaks = (): never => {
    throw new TypeError('x is not a function');
  };
  const BROKE = { type: 'EXECUTOR_BROKE' };

  test.each(['preflight', 'prepare'] as const)(
    'in %s uses up the attempts of its node',
    async (phase) => {
      const { movement, args } = await executing(FEW);
      if (phase === 'prepare') await worker().preflight(args);
      memory.executor[phase] = breaks;
      await expect(worker()[phase](args)).rejects.toMatchObject(BROKE);
      expect(await node(movement)).toMatchObject({ state: 'READY', error_count: 1 });
      expect(await worker()[phase](args)).toMatchObject({
        state: 'FAILED',
        error_code: 'EXECUTOR_BROKE',
      });
      await events(movement);
    },
  );

  test('in recover is for a person once no answer has come for long', async () => {
    const { movement, args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    memory.answers.submit = () => Promise.reject(new Error('the answer was lost'));
    expect(await worker().submit(args)).toMatchObject({ next: 'recover' });
    memory.answers.recover = breaks;
    await expect(worker().recover(args)).rejects.toMatchObject(BROKE);
    expect(await node(movement)).toMatchObject({
      state: 'SUBMITTING',
      error_code: 'EXECUTOR_BROKE',
      unanswered: 1,
    });
    await db.sql`UPDATE movement_nodes SET unanswered_since = svc_now() - interval '1 hour'
      WHERE movement_id = ${args.movement_id}::uuid`;
    expect(await worker().recover(args)).toMatchObject({ state: 'UNKNOWN', next: 'settled' });
    await events(movement);
  });

  test('in a cancel request ends the request alone', async () => {
    const { args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTED' });
    await db.sql`UPDATE movements SET request_state = 'CANCELLED'
      WHERE movement_id = ${args.movement_id}::uuid`;
    memory.executor.cancel = breaks;
    expect(await worker().cancel(args)).toBeUndefined();
  });
});

describe('a submit whose worker counts as dead', () => {
  test('is believed to have sent nothing only after the venue has had its time to settle', async () => {
    const { movement, args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    const { executor } = memory;
    memory = {
      ...memory,
      executor: { ...executor, descriptor: { ...executor.descriptor, settle_seconds: 3_600 } },
    };
    memory.answers.submit = () => Promise.reject(new Error('the answer was lost'));
    expect((await worker().submit(args)).next).toBe('recover');
    for (const ago of [0, 1_800]) {
      await sendIsOver(movement, ago);
      await expect(worker().recover(args)).rejects.toMatchObject({ type: 'NOT_YET' });
      expect(await node(movement)).toMatchObject({ state: 'SUBMITTING' });
    }
    await sendIsOver(movement, 3_600);
    expect(await worker().recover(args)).toMatchObject({ state: 'READY', next: 'submit' });
    expect(memory.calls.submit).toBe(1);
  });

  test('can write nothing once a recovery has bumped the epoch, not even that it was accepted', async () => {
    const { movement, args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    const answer = gate();
    memory.answers.submit = async () => {
      await answer.opened;
      return { next_state: 'SUBMITTED', external_ref: 'late' };
    };
    const zombie = worker().submit(args);
    while (memory.calls.submit === 0) await sleep(5);
    await expect(worker().recover(args)).rejects.toMatchObject({ type: 'NOT_YET' });
    const [recorded, row] = [await events(movement), await node(movement)];
    answer.open();
    // What became of it is found out by asking, and by nothing that a worker says which was
    // overtaken.
    expect(await zombie).toMatchObject({ next: 'recover' });
    expect(await node(movement)).toEqual(row);
    expect(row).toMatchObject({ state: 'SUBMITTING', submit_epoch: 2, external_ref: null });
    expect(await events(movement)).toEqual(recorded);
  });

  test('can write nothing once a recovery has bumped the epoch', async () => {
    const { movement, args } = await executing(PAY);
    await worker().preflight(args);
    await worker().prepare(args);
    const answer = gate();
    memory.answers.submit = async () => {
      await answer.opened;
      return { next_state: 'COMPLETED', external_ref: 'late', output: { late: true } };
    };
    const zombie = worker().submit(args);
    while (memory.calls.submit === 0) await sleep(5);
    const { submit_epoch } = await node(movement);
    // The second worker finds nothing, and says so only once the send can no longer be under way.
    await expect(worker().recover(args)).rejects.toMatchObject({ type: 'NOT_YET' });
    expect(await node(movement)).toMatchObject({
      state: 'SUBMITTING',
      submit_epoch: submit_epoch + 1,
    });
    answer.open();
    await expect(zombie).rejects.toThrow(/changed while it was worked on/);
    expect(await node(movement)).toMatchObject({ state: 'SUBMITTING', external_ref: null });
    memory.answers.recover = async () => ({ next_state: 'SUBMITTED', external_ref: 'late' });
    expect(await worker().recover(args)).toMatchObject({ state: 'SUBMITTED', next: 'observe' });
    expect((await worker().observe(args)).state).toBe('COMPLETED');
    expect(memory.calls.submit).toBe(1);
    expect((await events(movement)).filter((type) => type.startsWith('node_')).slice(-3)).toEqual([
      'node_submitting',
      'node_recovered',
      'node_completed',
    ]);
  });

  test("an unsafe key is not sent again, neither by itself nor after an operator's retry", async () => {
    const { movement, args } = await executing(PAY);
    const { executor } = memory;
    memory = {
      ...memory,
      executor: { ...executor, descriptor: { ...executor.descriptor, same_key_safe: false } },
    };
    await worker().preflight({ ...args, chained: true });
    memory.answers.submit = () => Promise.reject(new Error('the answer was lost'));
    expect((await worker().submit(args)).next).toBe('recover');
    await sendIsOver(movement);
    // The executor says that nothing landed, and does not promise what a second send under this key
    // does.
    expect(await worker().recover(args)).toMatchObject({ state: 'UNKNOWN', next: 'settled' });
    for (let retries = 1; retries <= 2; retries += 1) {
      const view = (await loadOf(movement))!;
      const intervenes = {
        ...(await firstDecision(movement)),
        from: view.state,
        to: 'MANUAL_INTERVENTION' as const,
      };
      expect(await worker().decide(intervenes)).toMatchObject({ applied: true });
      await api.act('retry', movement.movement_id);
      expect(await node(movement)).toMatchObject({ state: 'READY', recover_first: true });
      expect(await worker().submit({ ...args, executor_key: 'memory' })).toMatchObject({
        next: 'recover',
      });
      expect(await worker().recover(args)).toMatchObject({ state: 'UNKNOWN', next: 'settled' });
    }
    expect(memory.calls).toMatchObject({ submit: 1, recover: 3 });
  });

  test('stores no bytes when it is overtaken while it signs, and the nonce stays with the node', async () => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    // The next one of the signer's.
    const nonce = BigInt(FIRST_NONCE + (await db.evmTransaction.count()));
    const transactions = () =>
      db.evmTransaction.findMany({ where: { movement_id: movement.movement_id } });
    slow.control.meanwhile = async () => {
      slow.control.meanwhile = async () => undefined;
      await expect(worker().recover(args)).rejects.toMatchObject({ type: 'NOT_YET' });
    };
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTING', next: 'recover' });
    expect(slow.control.signed).toBe(1);
    expect(memory.calls.submit).toBe(0);
    const [overtaken] = await transactions();
    expect(overtaken).toMatchObject({ nonce, raw_tx: null, tx_hash: null });

    await sendIsOver(movement);
    expect(await worker().recover(args)).toMatchObject({ state: 'READY', next: 'submit' });
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTED' });
    const after = await transactions();
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ nonce, raw_tx: await bytesOf(Number(nonce)) });
    expect(slow.control.signed).toBe(2);
    await events(movement);
  });

  test('sends nothing once its time to send is over', async () => {
    const { args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    const { executor } = memory;
    memory = {
      ...memory,
      executor: { ...executor, descriptor: { ...executor.descriptor, timeout_seconds: 0.2 } },
    };
    slow.control.meanwhile = () => sleep(250);
    expect((await worker().submit(args)).next).toBe('recover');
    expect([slow.control.signed, memory.calls.submit]).toEqual([1, 0]);
  });

  test('is sent again with the stored bytes, not with new ones', async () => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    memory.answers.submit = async () => Promise.reject(new Error('the answer is lost'));
    expect(await worker().submit(args)).toMatchObject({ next: 'recover' });
    await sendIsOver(movement);
    expect(await worker().recover(args)).toMatchObject({ next: 'submit' });
    expect(await worker().submit(args)).toMatchObject({ next: 'recover' });
    expect(slow.control.signed).toBe(1);
    const kept = await db.evmTransaction.findMany({ where: { movement_id: movement.movement_id } });
    expect(kept.map(({ raw_tx }) => raw_tx)).toEqual([await bytesOf(Number(kept[0]?.nonce))]);
  });
});

describe('what a signer gives', () => {
  const other = createLocalSigner(
    { signer_key: 'other', chain_family: 'evm' },
    `0x${'6'.repeat(64)}`,
  );
  const sign = key.signEvmTransaction;

  test.each<[string, Signer['signEvmTransaction']]>([
    ['signed by another key', other.signEvmTransaction],
    ['with another nonce', (unsigned, nonce) => sign(unsigned, nonce + 1)],
    ['to another payee', (unsigned, nonce) => sign({ ...unsigned, to: PAID }, nonce)],
    ['of another amount', (unsigned, nonce) => sign({ ...unsigned, value: '2' }, nonce)],
    ['that is nothing', async () => ({ raw_tx: '0x', tx_hash: '0x' })],
  ])('is neither stored nor sent when it is a transaction %s', async (_what, forged) => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    slow.signer = { ...slow.signer, signEvmTransaction: forged };
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTING', next: 'recover' });
    const claimed = await db.evmTransaction.findMany({
      where: { movement_id: movement.movement_id },
    });
    expect(claimed).toMatchObject([{ raw_tx: null, tx_hash: null }]);
    expect(memory.calls.submit).toBe(0);
  });

  test('is not sent when it is typed data that another key signed', async () => {
    const payload = {
      domain: { name: 'Test', chainId: 31_337 },
      types: { Order: [{ name: 'to', type: 'address' }] },
      primaryType: 'Order',
      message: { to: UNSIGNED.to },
    };
    const signing = async (by: Signer) => {
      const { args } = await executing(SIGN);
      await worker().preflight(args);
      memory.executor = {
        ...memory.executor,
        prepare: async () => ({
          next_state: 'SUBMITTING',
          prepared_action: {},
          sign_request: { kind: 'evm_typed_data', payload },
        }),
      };
      await worker().prepare(args);
      slow.signer = { ...slow.signer, signEvmTypedData: by.signEvmTypedData };
      return worker().submit(args);
    };
    expect(await signing(other)).toMatchObject({ state: 'SUBMITTING', next: 'recover' });
    expect(memory.calls.submit).toBe(0);
    expect(await signing(key)).toMatchObject({ state: 'SUBMITTED' });
    expect(memory.calls.submit).toBe(1);
  });

  test('under a nonce that was claimed for another address is not even requested', async () => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    const { signer } = slow;
    slow.signer = { ...signer, signEvmTransaction: () => Promise.reject(new Error('no answer')) };
    expect(await worker().submit(args)).toMatchObject({ next: 'recover' });
    await sendIsOver(movement);
    expect(await worker().recover(args)).toMatchObject({ state: 'READY', next: 'submit' });
    // Behind the same name there is another key now.
    slow.signer = { ...signer, identity: other.identity };
    expect(await worker().submit(args)).toMatchObject({ next: 'recover' });
    expect([slow.control.signed, memory.calls.submit]).toEqual([0, 0]);
  });

  test('no address before the fence is read again, and claims nothing', async () => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    const { signer } = slow;
    const gone = () => Promise.reject(new SignerFault('SIGNER_UNREACHABLE', 'it is down'));
    slow.signer = { ...signer, identity: gone };
    await expect(worker().submit(args)).rejects.toMatchObject({ type: 'SIGNER_UNREACHABLE' });
    expect(await node(movement)).toMatchObject({ state: 'READY', unanswered: 1, submit_epoch: 0 });
    slow.signer = signer;
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTED' });
    // What was waited for at the fence is no silence of the send.
    expect(await node(movement)).toMatchObject({ unanswered: 0, error_code: null });
  });

  test('no address does not hide what became of a send', async () => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTED' });
    const gone = () => Promise.reject(new SignerFault('SIGNER_UNREACHABLE', 'it is down'));
    slow.signer = { ...slow.signer, identity: gone, recentIdentity: gone };
    expect(await worker().observe(args)).toMatchObject({ state: 'COMPLETED' });
    await events(movement);
  });
});

describe('the allowlist at the fence', () => {
  const OTHER = `0x${'9'.repeat(40)}`;
  const prepared = async (template: string): Promise<PhaseArgs> => {
    const { args } = await executing(template);
    expect(await worker().preflight(args)).toMatchObject({ next: 'continue' });
    expect(await worker().prepare(args)).toMatchObject({ next: 'continue' });
    return args;
  };
  const stopped = async (args: PhaseArgs): Promise<void> => {
    expect(await worker().submit(args)).toMatchObject({
      state: 'FAILED',
      error_code: 'ADDRESS_NOT_ALLOWLISTED',
    });
    expect([memory.calls.submit, slow.control.signed]).toEqual([0, 0]);
  };

  test.each([PAY, SIGN])(
    'stops what was prepared before its address was revoked: %s',
    async (template) => {
      const args = await prepared(template);
      await db.sql`UPDATE allowed_addresses SET active = false, revoked_at = svc_now(),
        revoked_by = 'test'`;
      try {
        await stopped(args);
      } finally {
        await db.sql`UPDATE allowed_addresses SET active = true, revoked_at = NULL,
          revoked_by = NULL`;
      }
    },
  );

  test.each<[string, Partial<ExecutionResult>]>([
    [
      'typed data',
      {
        sign_request: {
          kind: 'evm_typed_data',
          payload: { message: { inner: { destination: OTHER } } },
        },
      },
    ],
    [
      'a plain transaction',
      { sign_request: { kind: 'evm_transaction', payload: { ...UNSIGNED, to: OTHER } } },
    ],
    [
      'a token transfer',
      {
        sign_request: {
          kind: 'evm_transaction',
          payload: {
            ...UNSIGNED,
            data: `0xa9059cbb${OTHER.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`,
          },
        },
      },
    ],
    ['what was prepared', { prepared_action: { order: { payee: OTHER } } }],
  ])('finds an address of its own in %s', async (_name, answer) => {
    memory.executor.prepare = async () => ({
      next_state: 'SUBMITTING',
      prepared_action: {},
      ...answer,
    });
    await stopped(await prepared(SIGN));
  });
});
