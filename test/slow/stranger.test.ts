/**
 * Whoever reaches Temporal's frontend can schedule each activity that the workers serve, send each
 * signal and start each workflow, with arguments of their own. Against movements and a transfer in
 * every state that rests, none of it readies, sends, completes, fails or approves anything.
 */
import { randomUUID } from 'node:crypto';
import { createMovementActivities } from '../../activities/movement.ts';
import { createTransferActivities } from '../../activities/capital-transfers/activities.ts';
import {
  ATTENTION_SIGNAL,
  capitalTransferWorkflowId,
  LEAVE_BUILD_SIGNAL,
  movementWorkflowId,
  PHASES,
  SIGNALS,
  TASK_QUEUE,
  type CapitalTransferActivities,
  type MovementActivities,
} from '../../domain/messages.ts';
import { MOVEMENT_STATES } from '../../domain/states/movement.ts';
import { settleEach } from '../../platform/at-once.ts';
import { openQueueCaller, type QueueCaller } from '../../executor-kit/check/queue-caller.ts';
import * as workflows from '../../workflows/index.ts';
import { optionsOf } from '../executor-kit/support/check.ts';
import { transfersOnChain } from '../support/evidence.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';
import { compensation, edge, gate, noop, storeTemplate, withdrawal } from '../support/plans.ts';

type Activity = keyof MovementActivities | keyof CapitalTransferActivities;

let own: OwnStack;
let stranger: QueueCaller;

/** An executor of its own, so that it can be disabled for one movement. */
const second = (url: string) => ({
  executor_key: 'test.second',
  kind: 'remote',
  url,
  timeout_seconds: 5,
  same_key_safe: true,
  action_types: ['cex_withdrawal'],
  provider: 'second',
  settle_seconds: 1,
  completion_assurances: ['provider_completed'],
});

beforeAll(async () => {
  own = await startOwnStack({
    executors: (url) => [second(url)],
    env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1' },
  });
  const { temporalAddress } = own.stack;
  stranger = await openQueueCaller(optionsOf('the service', { temporalAddress }));
}, 120_000);
afterAll(async () => {
  await stranger?.close();
  await own?.close();
});

/** A gate, a payment, and what follows when it completes, fails or is cancelled. */
async function plan(provider: string, config: object = {}): Promise<string> {
  const { chain } = own.stack;
  const nodes = [
    gate('ask'),
    withdrawal(chain, 'pay', { provider, config }),
    withdrawal(chain, 'after', { provider }),
    withdrawal(chain, 'instead', { provider }),
    compensation('undo'),
  ];
  const edges = [
    edge('ask', 'pay'),
    edge('pay', 'after'),
    edge('pay', 'instead', 'on_failure'),
    edge('pay', 'undo', 'on_cancel'),
  ];
  return storeTemplate(own.api, nodes, { edges, assurance: 'provider_completed' });
}

const WITHDRAWN = { amount: '3' };
const at = (movement: Created, path: string) => `/movements/${movement.movement_id}/${path}`;

async function gated(template: string): Promise<Created> {
  const movement = await own.api.create(template, WITHDRAWN);
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  return movement;
}

/** One movement for each state in which one rests; the test says so if a state is missing. */
async function inEveryState(): Promise<Readonly<Record<string, Created>>> {
  const template = await plan('paper');
  const short = await storeTemplate(own.api, [noop('only')], { assurance: 'provider_completed' });
  const waiting = await own.api.create(template, WITHDRAWN);
  const rejected = await own.api.create(template, WITHDRAWN);
  await own.api.expect(200, 'POST', at(rejected, 'reject'), { reason: 'a test' });
  const expired = await own.api.create(template, { ...WITHDRAWN, ttl: 1 });
  const cancelled = await own.api.create(template, WITHDRAWN);
  await own.api.act('cancel', cancelled.movement_id);
  const done = await own.api.create(short, WITHDRAWN);
  await own.api.approve(done);
  const tooMuch = withdrawal(own.stack.chain, 'pay', {
    more: { risk_patch: { max_amount: '1' } },
  });
  const limited = await storeTemplate(own.api, [tooMuch], { assurance: 'provider_completed' });
  const failed = await own.api.create(limited, WITHDRAWN);
  await own.api.approve(failed);
  const atGate = await gated(template);
  const flying = await gated(template);
  const unknown = await gated(template);
  const unsent = await gated(await plan('second'));

  await own.query("UPDATE executors SET status = 'disabled' WHERE executor_key = 'test.second'");
  await own.api.act('resume', unsent.movement_id);
  await own.api.nodeReaches(unsent.movement_id, 'pay', ['READY']);
  await own.venueFaults({ processing_ms: 600_000, phases: ['submit'] });
  await own.api.act('resume', flying.movement_id);
  await own.api.nodeReaches(flying.movement_id, 'pay', ['OBSERVING']);
  await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
  await own.api.act('resume', unknown.movement_id);
  await own.api.reaches(unknown.movement_id, 'MANUAL_INTERVENTION');
  for (const [movement, state] of [
    [expired, 'EXPIRED'],
    [cancelled, 'CANCELLED'],
    [done, 'COMPLETED'],
    [failed, 'FAILED'],
  ] as const)
    await own.api.reaches(movement.movement_id, state);
  return {
    waiting,
    rejected,
    expired,
    cancelled,
    done,
    failed,
    atGate,
    flying,
    unknown,
    unsent,
  };
}

const ENDED = new Set(['REJECTED', 'EXPIRED', 'CANCELLED', 'COMPLETED', 'FAILED']);
const FAILED = { next_state: 'FAILED', error_code: 'FORGED', error_message: 'made up' } as const;
const COMPLETED = { next_state: 'COMPLETED', output: { received_amount: '3' } } as const;

interface Known {
  readonly movement_id: string;
  readonly state: string;
  readonly version: number;
  readonly nodes: readonly {
    readonly node_key: string;
    readonly attempt: number;
    readonly epoch: number;
  }[];
}

async function known({ movement_id }: Created): Promise<Known> {
  const [movement] = await own.query<{ state: string; version: number }>(
    'SELECT request_state AS state, version FROM movements WHERE movement_id = $1',
    [movement_id],
  );
  const nodes = await own.query<Known['nodes'][number]>(
    `SELECT node_key, attempt, submit_epoch AS epoch FROM movement_nodes
      WHERE movement_id = $1 ORDER BY position`,
    [movement_id],
  );
  return { movement_id, ...movement!, nodes };
}

/** Decisions made up to ready, pass over, stop and end what is there. */
function decisions({ movement_id, state, version, nodes }: Known): readonly object[] {
  const all = nodes.map(({ node_key, attempt }) => ({ node_key, attempt }));
  const none = { ready: [], skip: [], stop: [], frontier: [], ended: false, failure: null };
  const base = { movement_id, version, from: state, ...none };
  const payments = all.filter(({ node_key }) => node_key !== 'ask');
  return [
    ...MOVEMENT_STATES.map((to) => ({ ...base, to })),
    ...MOVEMENT_STATES.map((to) => ({ ...base, to, ended: true })),
    ...['APPROVED', 'EXECUTING'].flatMap((to) =>
      all.map((node) => ({ ...base, to, ready: [node], frontier: [node.node_key] })),
    ),
    { ...base, to: 'EXECUTING', skip: all.slice(0, 1), ready: payments },
    { ...base, to: 'EXECUTING', begin: { movement_id, ...all[1] }, ready: payments },
    { ...base, to: 'CANCELLED', stop: all, ended: true },
    {
      ...base,
      to: 'FAILED',
      ended: true,
      failure: { node_key: 'pay', error_code: 'FORGED' },
    },
  ];
}

/** What a stranger hands over to an activity: every kind of argument that it takes. */
const MADE_UP: Readonly<Record<Activity, (of: Known, transferId: string) => readonly object[]>> = {
  load: ({ movement_id }) => [{ movement_id, run_id: randomUUID(), decides: true }],
  decide: decisions,
  expire: ({ movement_id }) => [{ movement_id }],
  queueOf: ({ movement_id, nodes }) => nodes.map(({ node_key }) => ({ movement_id, node_key })),
  leaveBuild: ({ movement_id }) => [{ movement_id }],
  preflight: (of) => phases(of, [{ chained: true }, { whole: true, decides: true }]),
  prepare: (of) => phases(of, [{}]),
  submit: (of) => phases(of, [{}, { chained: true }, { whole: true, decides: true }]),
  observe: (of) => phases(of, [{}, { decides: true, then: decisions(of).at(-1) }]),
  recover: (of) => phases(of, [{}, { from_observe: true }, { from_unknown: true }]),
  cancel: (of) => phases(of, [{}]),
  ask: (of) =>
    phases(
      of,
      [...PHASES, 'cancel'].map((phase) => ({ phase, from_observe: true })),
    ),
  record: (of) =>
    of.nodes.flatMap(({ node_key, attempt, epoch }) =>
      (['submit', 'observe', 'recover'] as const).flatMap((phase) =>
        [FAILED, COMPLETED].map((answer) => ({
          movement_id: of.movement_id,
          node_key,
          attempt,
          epoch,
          phase,
          given: { answer },
          question: randomUUID(),
          from_observe: true,
        })),
      ),
    ),
  loadTransfer: (_, transfer_id) => [{ transfer_id, run_id: randomUUID() }],
  submitTransfer: (_, transfer_id) => [0, 1, 2].map((epoch) => ({ transfer_id, epoch })),
  leaveBuildOfTransfer: (_, transfer_id) => [{ transfer_id }],
  lookTransfer: (_, transfer_id) => [{ transfer_id }],
};

/** Each node, as it stands and as its next attempt, with an executor that is not its own. */
function phases({ movement_id, nodes }: Known, variants: readonly object[]): readonly object[] {
  return nodes.flatMap(({ node_key, attempt }) =>
    variants.flatMap((variant) => [
      { movement_id, node_key, attempt, ...variant },
      { movement_id, node_key, attempt: attempt + 1, executor_key: 'noop', ...variant },
    ]),
  );
}

/** All that a movement is, its plan's payments at the venue and those on the chain. */
async function standing(): Promise<unknown> {
  const rows = (sql: string) => own.query(sql);
  const ledger = (await (await fetch(`${own.stack.paperVenueUrl}/ledger`)).json()) as {
    readonly entries: readonly { readonly effects: number }[];
  };
  return {
    movements: await rows(
      `SELECT movement_id, request_state, approved_by, error_code FROM movements ORDER BY 1`,
    ),
    approvals: await rows('SELECT movement_id FROM movement_approvals ORDER BY 1'),
    nodes: await rows(
      `SELECT movement_id, node_key, state, attempt, output FROM movement_nodes ORDER BY 1, 2`,
    ),
    transfers: await rows(`SELECT transfer_id, request_state FROM capital_transfers ORDER BY 1`),
    effects: ledger.entries.reduce((sum, { effects }) => sum + effects, 0),
    onChain: (await transfersOnChain(own.stack.chain)).length,
  };
}

test('nothing that a stranger schedules, signals or starts moves anything', async () => {
  const movements = await inEveryState();
  await own.venueFaults({ transfer_outcome: 'pending', phases: ['transfer_submit'] });
  const transfer = await own.api.expect(201, 'POST', '/capital-transfers', {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    asset: 'USDT',
    amount: '10',
    reason: 'a test',
    idempotency_key: randomUUID(),
  });
  const transferId = String(transfer['transfer_id']);
  await eventually(async () => {
    const now = await own.api.expect(200, 'GET', `/capital-transfers/${transferId}`);
    return now['request_state'] === 'PENDING_PROVIDER_CONFIRMATION' ? true : null;
  });
  // Sends stay without an answer, so that what is unknown stays so.
  await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
  const before = await standing();
  const seen = (before as { movements: readonly { request_state: string }[] }).movements;
  expect(new Set(seen.map(({ request_state }) => request_state))).toEqual(
    // Of an approval and what follows from it nothing can rest between.
    new Set(MOVEMENT_STATES.filter((state) => state !== 'APPROVED')),
  );

  const served = Object.keys({
    ...createMovementActivities({} as never),
    ...createTransferActivities({} as never),
  });
  expect(Object.keys(MADE_UP).sort()).toEqual(served.sort());
  const calls = (await Promise.all(Object.values(movements).map(known))).flatMap((of) =>
    Object.entries(MADE_UP).flatMap(([phase, made]) =>
      made(of, transferId)
        .map((input) => ({ phase, input }))
        // All of what could still move; of the ended ones every fourth.
        .filter((_, index) => !ENDED.has(of.state) || index % 4 === 0),
    ),
  );
  const outcomes = await settleEach(calls, 24, ({ phase, input }) =>
    stranger.call({ phase, input, task_queue: TASK_QUEUE, timeout_ms: 3_000, pickup_ms: 60_000 }),
  );
  // Most were carried out, and did not only find a full queue.
  expect(
    outcomes.filter((each) => each.status === 'fulfilled' && each.value.ok).length,
  ).toBeGreaterThan(calls.length / 2);
  expect(await standing()).toEqual(before);

  const ids = Object.values(movements).map(({ movement_id }) => movement_id);
  const commands = await own.query<{ id: string }>('SELECT command_id AS id FROM commands');
  const words = [null, randomUUID(), ...commands.map(({ id }) => id), { approve: true }];
  const handles = [...ids.map(movementWorkflowId), capitalTransferWorkflowId(transferId)];
  const signals = handles.flatMap((id) =>
    [...SIGNALS, ATTENTION_SIGNAL, LEAVE_BUILD_SIGNAL].flatMap((name) =>
      words.map((word) => ({ id, name, word })),
    ),
  );
  const sent = await settleEach(signals, 24, ({ id, name, word }) =>
    own.temporal.workflow.getHandle(id).signal(name, word),
  );
  expect(sent.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(
    words.length * 5,
  );
  await settleEach([...ids, transferId], 8, (id) =>
    settleEach(Object.keys(workflows), 2, (name) =>
      own.temporal.workflow.start(name, {
        taskQueue: TASK_QUEUE,
        workflowId: `stranger/${name}/${id}`,
        args: [id],
      }),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect(await standing()).toEqual(before);
}, 900_000);
