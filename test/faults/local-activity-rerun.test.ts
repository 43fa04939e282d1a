/** An activity that runs twice, or in two workers at once, has one effect. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { createMovementActivities } from '../../activities/movement.ts';
import { createApi } from '../../api/app.ts';
import { routes } from '../../api/routes.ts';
import { listen, type Listening } from '../../api/server.ts';
import { ExecutorFault, type ExecutionResult, type Executor, type ExecutorPhase } from '../../domain/executor.ts';
import type { DecideArgs, MovementActivities, PhaseArgs } from '../../domain/messages.ts';
import type { Signer } from '../../domain/signer.ts';
import { allow } from '../../dev/allowlist.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { assertConsistent } from '../support/evidence.ts';
import { MovementApi, startOwnDatabase, type Created } from '../support/own-stack.ts';

const PAY = 'memory/pay';
const SIGN = 'memory/sign';
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

const QUIET = new DefaultLogger('ERROR', () => undefined);

type Answers = { [Phase in 'submit' | 'recover' | 'observe']: () => Promise<ExecutionResult> };

/** An executor that counts its calls and answers as the test says. */
function countingExecutor() {
  const calls: Record<ExecutorPhase, number> = { preflight: 0, prepare: 0, submit: 0, observe: 0, recover: 0, cancel: 0 };
  const answers: Answers = {
    submit: async () => ({ next_state: 'SUBMITTED', external_ref: 'ref-1' }),
    recover: async () => ({ next_state: 'READY' }),
    observe: async () => ({ next_state: 'COMPLETED', external_ref: 'ref-1', output: { paid: true } }),
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
      timeout_seconds: 1,
      in_process: true,
    },
    preflight: () => counted('preflight', async () => null),
    prepare: ({ action_type }) =>
      counted('prepare', async () => ({
        next_state: 'SUBMITTING',
        prepared_action: { made: calls.prepare },
        ...(action_type === 'memory_sign' ? { sign_request: { kind: 'evm_transaction', payload: UNSIGNED } as const } : {}),
      })),
    submit: () => counted('submit', () => answers.submit()),
    observe: () => counted('observe', () => answers.observe()),
    recover: () => counted('recover', () => answers.recover()),
    cancel: () => counted('cancel', async () => ({ next_state: 'OBSERVING' })),
    health: async () => ({ state: 'up' }),
    chainNonce: async () => FIRST_NONCE,
  };
  return { executor, calls, answers };
}

/** A signer whose signing can be held up, as one that waits for a person or a slow key service. */
function slowSigner() {
  const control = { signed: 0, meanwhile: async (): Promise<void> => undefined };
  const signer: Signer = {
    descriptor: { signer_key: 'slow', backend: 'local', chain_family: 'evm', profile: 'slow' },
    identity: async () => '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    signEvmTransaction: async (_unsigned, nonce) => {
      control.signed += 1;
      const mine = control.signed;
      await control.meanwhile();
      return { raw_tx: `0xraw${mine}`, tx_hash: `0x${String(nonce).padStart(63, '0')}${mine}` };
    },
    signEvmTypedData: async () => ({ signature: '0x' }),
  };
  return { signer, control };
}

let database: Awaited<ReturnType<typeof startOwnDatabase>>;
let db: Database;
let server: Listening;
let api: MovementApi;
let memory: ReturnType<typeof countingExecutor>;
let slow: ReturnType<typeof slowSigner>;
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
      signers: { list: () => [signer.descriptor], get: () => signer },
      handOver: () => undefined,
      settings: {
        apiPrefix: '/v3',
        approvalTtlSeconds: 600,
        authEnabled: false,
        balanceStaleSeconds: 300,
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
  ]) {
    const node = {
      node_key: 'pay',
      node_kind: 'action',
      action_type,
      executor_selector: { action_type, provider: 'memory' },
      ...(template_key === SIGN ? { signer_selector: { chain_family: 'evm', profile: 'slow' } } : {}),
      has_side_effect: true,
      config: { destination_address: UNSIGNED.to },
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
}, 60_000);
afterAll(async () => {
  await server?.close();
  await db?.$disconnect();
  await database?.close();
}, 30_000);
beforeEach(() => {
  memory = countingExecutor();
  slow = slowSigner();
});

/** The activities of one worker. Each call runs in an activity context of its own. */
function worker(): MovementActivities {
  const activities = createMovementActivities({
    db,
    log,
    executors: { get: () => memory.executor, describe: () => memory.executor.descriptor },
    signers: { get: () => slow.signer },
    checkSignRequest: async () => null,
  });
  const inContext = <A, R>(activity: (args: A) => Promise<R>): ((args: A) => Promise<R>) => {
    return (args) => new MockActivityEnvironment({}, { logger: QUIET }).run(activity, args) as Promise<R>;
  };
  return {
    load: inContext(activities.load),
    decide: inContext(activities.decide),
    expire: inContext(activities.expire),
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

const loadOf = (movement: Created) => worker().load({ movement_id: movement.movement_id, run_id: 'a-run' });

/** A movement that was approved and whose run has written its first decision. */
async function executing(template: string): Promise<{ movement: Created; args: PhaseArgs; begin: DecideArgs }> {
  const movement = await api.create(template, { amount: '5' });
  await api.approve(movement);
  const begin = await firstDecision(movement);
  await worker().decide(begin);
  return { movement, args: { movement_id: movement.movement_id, node_key: 'pay', attempt: 1 }, begin };
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

async function node(
  movement: Created,
): Promise<{ state: string; submit_epoch: number; external_ref: string | null; prepared_action: unknown; error_count: number }> {
  const rows = await db.movementNode.findMany({ where: { movement_id: movement.movement_id } });
  const [row] = rows;
  return row!;
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
    expect(await db.command.findMany({ where: { movement_id: movement.movement_id } })).toEqual(seen);
    expect(seen.every((command) => command.applied_at !== null)).toBe(true);
  });

  test('a second decide is refused by its version and writes no second timeline row', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await api.approve(movement);
    const decision = await firstDecision(movement);
    expect(await worker().decide(decision)).toEqual({ applied: true, version: decision.version + 1 });
    const once = await events(movement);
    expect(await worker().decide(decision)).toEqual({ applied: false, version: decision.version + 1 });
    expect(await events(movement)).toEqual(once);
    expect(once.filter((type) => type === 'frontier_advanced')).toHaveLength(1);
  });

  test('of eight decides at once exactly one is written, also where the state stays', async () => {
    const movement = await api.create(PAY, { amount: '5' });
    await api.approve(movement);
    const first = await firstDecision(movement);
    const second: DecideArgs = { ...first, version: first.version + 1, from: 'EXECUTING', frontier: ['pay', 'elsewhere'] };
    for (const decision of [first, second]) {
      const all = await Promise.all(Array.from({ length: 8 }, () => worker().decide(decision)));
      expect(all.filter(({ applied }) => applied)).toHaveLength(1);
      expect((await loadOf(movement))!.version).toBe(decision.version + 1);
    }
    expect((await events(movement)).filter((type) => type === 'frontier_advanced')).toHaveLength(1);
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
    const movement = await api.create(PAY, { amount: '5', ttl: 1 });
    await worker().expire({ movement_id: movement.movement_id });
    expect((await api.movement(movement.movement_id)).request_state).toBe('PENDING_APPROVAL');
    await sleep(1_050);
    await Promise.all([worker().expire({ movement_id: movement.movement_id }), worker().expire({ movement_id: movement.movement_id })]);
    await worker().expire({ movement_id: movement.movement_id });
    expect(await events(movement)).toEqual(['movement_created', 'request_expired']);
    expect(await db.auditEvent.count({ where: { action: 'movement.expire', entity_key: movement.movement_id } })).toBe(1);
  });
});

describe('a phase that runs again', () => {
  test('returns what is recorded and calls nobody', async () => {
    const { movement, args } = await executing(PAY);
    const { preflight, prepare, submit, observe, recover } = worker();
    for (const [phase, next] of [
      [preflight, 'continue'],
      [prepare, 'continue'],
      [submit, 'continue'],
      [observe, 'settled'],
    ] as const) {
      expect((await phase(args)).next).toBe(next);
      const told = await events(movement);
      // The same phase again, and every one before it, as a reset of the run would have it.
      for (const earlier of [preflight, prepare, submit, observe].slice(0, [preflight, prepare, submit, observe].indexOf(phase) + 1)) {
        const again = await earlier(args);
        expect(again.next).not.toBe('wait');
        if (phase !== earlier || phase === observe) continue;
        expect(again.state).toBe((await node(movement)).state);
      }
      if (phase !== submit) expect(await events(movement)).toEqual(told);
    }
    expect((await recover(args)).next).toBe('settled');
    expect(memory.calls).toEqual({ preflight: 1, prepare: 1, submit: 1, observe: 1, recover: 0, cancel: 0 });
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

  test.each([
    ['the short fence', { executor_key: 'memory' }],
    ['the long fence', {}],
  ])('two submits at once send once behind %s, and the loser never waits for a wake that nobody sends', async (_which, known) => {
    const { movement, args: place } = await executing(PAY);
    const args = { ...place, ...known };
    await worker().preflight(args);
    await worker().prepare(args);
    const both = await Promise.all([worker().submit(args), worker().submit(args)]);
    expect(memory.calls.submit).toBe(1);
    expect(both.map(({ next }) => next)).not.toContain('wait');
    expect((await events(movement)).filter((type) => type === 'node_submitting')).toHaveLength(1);
  });
});

describe('phases that are chained in one activity', () => {
  test('are each recorded, and call nobody again', async () => {
    const { movement, args } = await executing(PAY);
    const { preflight, submit } = worker();
    const chained = { ...args, chained: true };
    expect(await preflight(chained)).toMatchObject({ state: 'READY', next: 'continue', phase: 'prepare' });
    expect((await events(movement)).slice(-2)).toEqual(['node_preflight_passed', 'node_prepared']);
    expect(await preflight(chained)).toMatchObject({ next: 'continue', phase: 'prepare' });
    expect(await submit(chained)).toMatchObject({ state: 'COMPLETED', next: 'settled', phase: 'observe' });
    expect((await events(movement)).slice(-3)).toEqual(['node_submitting', 'node_submitted', 'node_completed']);
    expect((await submit(chained)).next).toBe('settled');
    expect(memory.calls).toEqual({ preflight: 1, prepare: 1, submit: 1, observe: 1, recover: 0, cancel: 0 });
  });

  test('a prepare that breaks leaves the passed preflight behind', async () => {
    const { movement, args } = await executing(PAY);
    const { executor } = memory;
    const broken = new ExecutorFault('server_error', 'AWAY', 'not now');
    memory = { ...memory, executor: { ...executor, prepare: () => Promise.reject(broken) } };
    await expect(worker().preflight({ ...args, chained: true })).rejects.toMatchObject({ type: 'AWAY' });
    expect(await node(movement)).toMatchObject({ state: 'READY', preflight_passed: true, error_count: 1, prepared_action: null });
    memory = { ...memory, executor };
    expect(await worker().preflight({ ...args, chained: true })).toMatchObject({ next: 'continue', phase: 'prepare' });
    expect(memory.calls).toMatchObject({ preflight: 1, prepare: 1 });
  });

  test.each([
    ['fails', () => Promise.reject(new Error('the look broke'))],
    ['never answers', () => new Promise<never>(() => undefined)],
  ])('a first look that %s takes nothing back of the send', async (_how, observe) => {
    const { movement, args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    const { answers } = memory;
    const sound = answers.observe;
    answers.observe = observe;
    expect(await worker().submit({ ...args, chained: true })).toMatchObject({ state: 'SUBMITTED', next: 'observe' });
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
    expect(await worker().decide(decision)).toMatchObject({ applied: true, begun: { next: 'continue', phase: 'prepare' } });
    expect(await worker().decide(decision)).toEqual({ applied: false, version: decision.version + 1 });
    expect(memory.calls).toMatchObject({ preflight: 1, prepare: 1 });
  });
});

describe('a submit whose worker counts as dead', () => {
  test('is believed to have sent nothing only after the venue has had its time to settle', async () => {
    const { movement, args } = await executing(PAY);
    await worker().preflight({ ...args, chained: true });
    const { executor } = memory;
    memory = { ...memory, executor: { ...executor, descriptor: { ...executor.descriptor, timeout_seconds: 0.05, settle_seconds: 3_600 } } };
    memory.answers.submit = () => Promise.reject(new Error('the answer was lost'));
    expect((await worker().submit(args)).next).toBe('recover');
    await sleep(100);
    await expect(worker().recover(args)).rejects.toMatchObject({ type: 'NOT_YET' });
    expect(await node(movement)).toMatchObject({ state: 'SUBMITTING' });
    expect(memory.calls.submit).toBe(1);
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
    expect(await node(movement)).toMatchObject({ state: 'SUBMITTING', submit_epoch: submit_epoch + 1 });
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

  test('stores no bytes when it is overtaken while it signs, and the nonce stays with the node', async () => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    const transactions = () => db.evmTransaction.findMany({ where: { movement_id: movement.movement_id } });
    slow.control.meanwhile = async () => {
      slow.control.meanwhile = async () => undefined;
      await expect(worker().recover(args)).rejects.toMatchObject({ type: 'NOT_YET' });
    };
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTING', next: 'recover' });
    expect(slow.control.signed).toBe(1);
    expect(memory.calls.submit).toBe(0);
    const [overtaken] = await transactions();
    expect(overtaken).toMatchObject({ nonce: BigInt(FIRST_NONCE), raw_tx: null, tx_hash: null });

    await sleep(1_100);
    expect(await worker().recover(args)).toMatchObject({ state: 'READY', next: 'submit' });
    expect(await worker().submit(args)).toMatchObject({ state: 'SUBMITTED' });
    const after = await transactions();
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ nonce: BigInt(FIRST_NONCE), raw_tx: '0xraw2' });
    await events(movement);
  });

  test('sends nothing once its time to send is over', async () => {
    const { args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    // The executor of these tests may take a second for a send, signing included.
    slow.control.meanwhile = () => sleep(1_100);
    expect((await worker().submit(args)).next).toBe('recover');
    expect(memory.calls.submit).toBe(0);
  });

  test('is sent again with the stored bytes, not with new ones', async () => {
    const { movement, args } = await executing(SIGN);
    await worker().preflight(args);
    await worker().prepare(args);
    memory.answers.submit = async () => Promise.reject(new Error('the answer is lost'));
    expect(await worker().submit(args)).toMatchObject({ next: 'recover' });
    await sleep(1_100);
    expect(await worker().recover(args)).toMatchObject({ next: 'submit' });
    expect(await worker().submit(args)).toMatchObject({ next: 'recover' });
    expect(slow.control.signed).toBe(1);
    const kept = await db.evmTransaction.findMany({ where: { movement_id: movement.movement_id } });
    expect(kept.map(({ raw_tx }) => raw_tx)).toEqual(['0xraw1']);
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
    expect(await worker().submit(args)).toMatchObject({ state: 'FAILED', error_code: 'ADDRESS_NOT_ALLOWLISTED' });
    expect([memory.calls.submit, slow.control.signed]).toEqual([0, 0]);
  };

  test.each([PAY, SIGN])('stops what was prepared before its address was revoked: %s', async (template) => {
    const args = await prepared(template);
    await db.sql`UPDATE allowed_addresses SET active = false, revoked_at = svc_now(), revoked_by = 'test'`;
    try {
      await stopped(args);
    } finally {
      await db.sql`UPDATE allowed_addresses SET active = true, revoked_at = NULL, revoked_by = NULL`;
    }
  });

  test.each<[string, Partial<ExecutionResult>]>([
    ['typed data', { sign_request: { kind: 'evm_typed_data', payload: { message: { inner: { destination: OTHER } } } } }],
    ['a plain transaction', { sign_request: { kind: 'evm_transaction', payload: { ...UNSIGNED, to: OTHER } } }],
    [
      'a token transfer',
      {
        sign_request: {
          kind: 'evm_transaction',
          payload: { ...UNSIGNED, data: `0xa9059cbb${OTHER.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}` },
        },
      },
    ],
    ['what was prepared', { prepared_action: { order: { recipient: OTHER } } }],
  ])('finds an address of its own in %s', async (_name, answer) => {
    memory.executor.prepare = async () => ({ next_state: 'SUBMITTING', prepared_action: {}, ...answer });
    await stopped(await prepared(SIGN));
  });

  test('finds one that an earlier attempt reported', async () => {
    const args = await prepared(PAY);
    await db.sql`UPDATE movement_nodes SET output = ${JSON.stringify({ next: { payee: OTHER } })}::jsonb WHERE movement_id = ${args.movement_id}::uuid`;
    await stopped(args);
  });
});
