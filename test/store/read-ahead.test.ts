/** A chain of phases gets its next node from the write that makes that node ready. */
import { pino } from 'pino';
import { wholeChain } from '../../activities/phases/chain.ts';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { observe } from '../../activities/phases/observe.ts';
import { runPhase } from '../../activities/phases/phase.ts';
import { advance } from '../../domain/commands/advance.ts';
import { followsCompletion } from '../../domain/decision.ts';
import { LEAST_ASSURANCES, type Executor } from '../../domain/executor.ts';
import type { LoadedMovement, PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { NOW, type Transition } from '../../domain/transition.ts';
import type { Database, SqlValue } from '../../prisma/client.ts';
import { readMovementView, readPhaseAndView, type NodeAndView } from '../../store/phases.ts';
import { applyAndRead } from '../../store/transition.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { courseOf } from '../../workflows/course.ts';
import { inActivity } from '../support/activity-environment.ts';
import { paying, storeBench } from './support.ts';

const bench = storeBench();

const OUTPUT = { submitted_amount: '3' };
/** The second node sends what the first one reports, so it is read right only after that. */
const SHAPE = {
  nodes: [paying('n1', {}), paying('n2', { amount_ref: 'nodes.n1.output.submitted_amount' })],
  edges: [
    {
      from: 'n1',
      to: 'n2',
      edge_type: 'on_success' as const,
      priority: 0,
      join_key: null,
      condition_expr: null,
    },
  ],
};

/** A movement under way whose first node is ready. */
async function executing(): Promise<string> {
  const { movement_id } = await bench.movement({ shape: SHAPE });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved',
      reservation_status = 'held' WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await setFirst(movement_id, 'READY');
  return movement_id;
}

const setFirst = (movement_id: string, state: string): Promise<unknown> =>
  bench.sql(
    `UPDATE movement_nodes SET state = $2 WHERE movement_id = $1::uuid AND node_key = 'n1'`,
    movement_id,
    state,
  );

async function statesOf(movement_id: string): Promise<readonly string[]> {
  const view = await viewOf(movement_id);
  return [view.state, ...view.nodes.map(({ state }) => state)];
}

/** The view as a load describes it to the movement's run. */
async function viewOf(movement_id: string): Promise<LoadedMovement> {
  const view = await readMovementView(bench.db, movement_id);
  if (view === null) throw new Error('there is no such movement');
  return { ...view, conduct: 4, nodes: view.nodes.map((node) => ({ ...node, carried: true })) };
}

/** What the movement's run calls the node's activity with. */
async function argsOf(movement_id: string, node_key: string): Promise<PhaseArgs> {
  const view = await viewOf(movement_id);
  const node = view.nodes.find((each) => each.node_key === node_key);
  if (node === undefined) throw new Error('there is no such node');
  const { attempt, executor_key } = node;
  const course = courseOf(view, node, true);
  return { movement_id, node_key, attempt, executor_key, whole: true, ...course };
}

type Kind = 'read' | 'write' | 'write and read';

function kindOf(text: string): Kind {
  if (!text.includes('apply_transition(')) return 'read';
  return text.includes('read_phase(') ? 'write and read' : 'write';
}

interface Desk {
  readonly deps: PhaseDependencies;
  /** The calls of the executor, as `<phase> <node>`, in order. */
  readonly calls: string[];
  /** The statements, in order. */
  readonly statements: Kind[];
}

interface DeskOptions {
  /** Runs at the start of each call of the executor. */
  readonly before?: (call: string) => Promise<unknown>;
  /** Runs after each statement; if it throws, the statement's answer is lost. */
  readonly after?: (kind: Kind) => void;
}

/** A worker with an executor that does all that it should. */
function deskOf({ before, after }: DeskOptions = {}): Desk {
  const [calls, statements]: [string[], Kind[]] = [[], []];
  const called = async (phase: string, node_key: string): Promise<void> => {
    calls.push(`${phase} ${node_key}`);
    await before?.(`${phase} ${node_key}`);
  };
  const never = (): Promise<never> => Promise.reject(new Error('not in this test'));
  const executor: Executor = {
    descriptor: {
      executor_key: 'acme.payouts',
      kind: 'local',
      action_types: ['acme_payout'],
      same_key_safe: true,
      settle_seconds: 0,
      timeout_seconds: 60,
      in_process: true,
      sends: true,
      payees: [],
      not_payees: [],
      completion_assurances: LEAST_ASSURANCES,
    },
    preflight: async ({ node_key }) => {
      await called('preflight', node_key);
      return null;
    },
    prepare: async ({ node_key, amount }) => {
      await called('prepare', node_key);
      return { next_state: 'SUBMITTING', prepared_action: { amount } };
    },
    submit: async ({ context: { node_key } }) => {
      await called('submit', node_key);
      return { next_state: 'SUBMITTED', external_ref: node_key };
    },
    observe: async ({ node_key }) => {
      await called('observe', node_key);
      return { next_state: 'COMPLETED', output: OUTPUT };
    },
    ...{ recover: never, cancel: never, health: never },
  };
  const db = new Proxy(bench.db, {
    get(target, name) {
      if (name !== 'sql') return Reflect.get(target, name) as unknown;
      return async (strings: TemplateStringsArray, ...values: SqlValue[]) => {
        const kind = kindOf(strings.join(''));
        statements.push(kind);
        const rows = await target.sql(strings, ...values);
        after?.(kind);
        return rows;
      };
    },
  });
  return { deps: depsOf(db, executor), calls, statements };
}

function depsOf(db: Database, executor: Executor): PhaseDependencies {
  return {
    db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: { get: () => executor, describe: () => executor.descriptor },
    signers: { get: () => undefined },
    signing: createEvmSigning(createEvmChains([])),
    soonMs: 600_000,
  };
}

const run = ({ deps }: Desk, args: PhaseArgs): Promise<PhaseResult> =>
  inActivity(() => wholeChain(deps, args, () => undefined));

/** The completion of the first node, with the decision that makes the second one ready. */
async function completion(movement_id: string, versionsBehind = 0): Promise<Transition> {
  const decision = followsCompletion(await viewOf(movement_id), { node_key: 'n1' });
  if (decision === undefined) throw new Error('nothing follows from the completion');
  const next = advance({ ...decision, version: decision.version - versionsBehind }, 'none', false);
  return {
    ...next,
    nodes: [
      {
        node_key: 'n1',
        from: 'OBSERVING',
        moves: ['COMPLETED'],
        attempt: 1,
        set: { output: OUTPUT, completed_at: NOW },
      },
      ...(next.nodes ?? []),
    ],
  };
}

/** The same without what changes from one moment to the next. */
const timeless = (found: NodeAndView | null) =>
  found === null
    ? null
    : {
        row: { ...found.row, now_ms: 0 },
        view: found.view === null ? null : { ...found.view, ttl_ms: 0 },
      };

test.each([true, false])(
  'the write reads the next node as a read after it does (with the view: %s)',
  async (view) => {
    const id = await executing();
    await setFirst(id, 'OBSERVING');
    const write = await completion(id);
    const { outcome, found } = await applyAndRead(bench.db, write, { node_key: 'n2', view });
    expect(outcome.ok).toBe(true);
    const fresh = await readPhaseAndView(bench.db, id, 'n2');
    if (fresh === null) throw new Error('there is no such node');
    expect(timeless(found)).toEqual(timeless(view ? fresh : { ...fresh, view: null }));
    // All of this was written by the same statement.
    expect(found?.row).toMatchObject({ state: 'READY', outputs: { n1: OUTPUT } });
    if (view) expect(found?.view?.nodes.map(({ state }) => state)).toEqual(['COMPLETED', 'READY']);
  },
);

test('a refused write reads nothing', async () => {
  const id = await executing();
  await setFirst(id, 'OBSERVING');
  const write = await completion(id, 1);
  const { outcome, found } = await applyAndRead(bench.db, write, { node_key: 'n2', view: true });
  expect(outcome).toMatchObject({ ok: false, reason: 'version' });
  expect(found).toBeNull();
  expect(await statesOf(id)).toEqual(['EXECUTING', 'OBSERVING', 'BLOCKED']);
});

test('a chain reads its first node alone, and each node behind it with the write before', async () => {
  const id = await executing();
  const desk = deskOf();
  expect(await run(desk, await argsOf(id, 'n1'))).toMatchObject({
    state: 'COMPLETED',
    carried: [{ node_key: 'n2', result: { state: 'COMPLETED' } }],
  });
  expect(desk.statements).toEqual([
    ...['read', 'write', 'write', 'write and read'],
    ...['write', 'write', 'write'],
  ]);
  expect(desk.calls).toEqual(
    ['n1', 'n2'].flatMap((node) =>
      ['preflight', 'prepare', 'submit', 'observe'].map((phase) => `${phase} ${node}`),
    ),
  );
  expect(await statesOf(id)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
});

test('a cancel after the read is seen at the fence: the next node is not sent', async () => {
  const id = await executing();
  const desk = deskOf({
    before: async (call) =>
      call === 'preflight n2' &&
      bench.sql(
        "UPDATE movements SET request_state = 'CANCELLED' WHERE movement_id = $1::uuid",
        id,
      ),
  });
  expect(await run(desk, await argsOf(id, 'n1'))).toMatchObject({
    state: 'COMPLETED',
    carried: [{ node_key: 'n2', result: { state: 'READY', next: 'stop' } }],
  });
  expect(desk.statements).toContain('write and read');
  expect(desk.calls.filter((call) => call.startsWith('submit'))).toEqual(['submit n1']);
  expect(await statesOf(id)).toEqual(['CANCELLED', 'COMPLETED', 'READY']);
});

test('a take-over after the read is seen at the fence: the next node is not sent', async () => {
  const id = await executing();
  const desk = deskOf({
    before: async (call) =>
      call === 'preflight n2' &&
      bench.sql(
        `UPDATE movement_nodes SET submit_epoch = submit_epoch + 1
          WHERE movement_id = $1::uuid AND node_key = 'n2'`,
        id,
      ),
  });
  expect(await run(desk, await argsOf(id, 'n1'))).toMatchObject({
    state: 'COMPLETED',
    carried: [{ node_key: 'n2', result: { state: 'READY', next: 'again' } }],
  });
  expect(desk.statements).toContain('write and read');
  expect(desk.calls.filter((call) => call.startsWith('submit'))).toEqual(['submit n1']);
  expect(await statesOf(id)).toEqual(['EXECUTING', 'COMPLETED', 'READY']);
});

test('if the answer of such a write is lost, the completion is found, and the next node is read', async () => {
  const id = await executing();
  const losing = deskOf({
    after: (kind) => {
      if (kind === 'write and read') throw new Error('Connection terminated unexpectedly');
    },
  });
  const args = await argsOf(id, 'n1');
  expect(await run(losing, args)).toEqual({
    ...{ phase: 'submit', state: 'SUBMITTED', next: 'observe', error_code: null },
  });
  expect(await statesOf(id)).toEqual(['EXECUTING', 'COMPLETED', 'READY']);
  expect(await inActivity(() => runPhase(losing.deps, observe, args))).toMatchObject({
    state: 'COMPLETED',
    next: 'settled',
  });
  const next = deskOf();
  expect(await run(next, await argsOf(id, 'n2'))).toMatchObject({ state: 'COMPLETED' });
  expect(next.statements).toEqual(['read', 'write', 'write', 'write']);
  const sent = [...losing.calls, ...next.calls].filter((call) => call.startsWith('submit'));
  expect(sent).toEqual(['submit n1', 'submit n2']);
  expect(await statesOf(id)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
});
