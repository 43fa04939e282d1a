/**
 * One activity that goes on from node to node: each is sent once, whoever looks at the movement
 * meanwhile, and whatever becomes of the activity.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { installSdk } from '../../activities/sdk.ts';
import { startCostService, type CostService } from '../../bench/costs/service.ts';
import { instantExecutor } from '../../bench/executors.ts';
import { startBenchStack, type BenchStack } from '../../bench/stack.ts';
import { chain, threeLanes, type TemplateBody } from '../../bench/templates.ts';
import type { Executor } from '../../domain/executor.ts';
import { movementWorkflowId, type PhaseArgs } from '../../domain/messages.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { assertConsistent } from '../support/evidence.ts';
import { eventually, MovementApi, type Created } from '../support/own-stack.ts';

type Call = 'preflight' | 'prepare' | 'submit' | 'observe' | 'recover';

/** What the module does before it answers, by movement and call. */
const before = new Map<string, (call: Call, node: string, attempt: number) => Promise<void>>();
const calls: { id: string; call: Call; node: string }[] = [];
/** How often a run has started to load its movement. */
const loads = new Map<string, number>();
/** What becomes of an activity of a movement: its answer is lost at once, or when it ends. */
const lost = new Map<string, Promise<void> | 'at the end'>();
/** Called when an activity has its answer, which may then be held back. */
const answered = new Map<string, () => Promise<void>>();

/** Longer than in the service: whether an activity goes on is not to depend on the machine. */
const SOON_MS = 5_000;

const CHAIN: TemplateBody = { ...chain('instant', 3), template_key: 'carried/chain' };
const UNDONE: TemplateBody = {
  ...CHAIN,
  template_key: 'carried/undone',
  nodes: [...CHAIN.nodes, { ...CHAIN.nodes[0], node_key: 'undo', node_kind: 'compensation' }],
  edges: [...CHAIN.edges, { from: 'n1', to: 'undo', edge_type: 'on_cancel' }],
};
const LANES: TemplateBody = { ...threeLanes('instant', 3), template_key: 'carried/lanes' };

const [shape] = CHAIN.nodes;
const EITHER: TemplateBody = {
  ...CHAIN,
  template_key: 'carried/either',
  nodes: ['root', 'a', 'b', 'end'].map((node_key) => ({ ...shape, node_key })),
  edges: [
    { from: 'root', to: 'a', edge_type: 'on_success' },
    { from: 'root', to: 'b', edge_type: 'on_success' },
    { from: 'a', to: 'end', edge_type: 'on_success', join_key: 'by a' },
    { from: 'b', to: 'end', edge_type: 'on_success', join_key: 'by b' },
  ],
};

let stack: BenchStack;
let db: Database;
let service: CostService;
let api: MovementApi;

/** The instant executor, with a record of its calls. */
function noting(): Executor {
  const sound = instantExecutor();
  const note = async (
    call: Call,
    { movement_id, node_key, attempt }: { movement_id: string; node_key: string; attempt: number },
  ): Promise<void> => {
    calls.push({ id: movement_id, call, node: node_key });
    await before.get(movement_id)?.(call, node_key, attempt);
  };
  return {
    ...sound,
    preflight: async (context, call) => {
      await note('preflight', context);
      return sound.preflight(context, call);
    },
    prepare: async (context, call) => {
      await note('prepare', context);
      return sound.prepare(context, call);
    },
    submit: async (input, call) => {
      await note('submit', input.context);
      return sound.submit(input, call);
    },
    observe: async (context, call, journal) => {
      await note('observe', context);
      return sound.observe(context, call, journal);
    },
    // The books tell what was sent, whether or not the sender knows.
    recover: async (context) => {
      await note('recover', context);
      const landed = sent(context.movement_id).includes(context.node_key);
      return landed ? { next_state: 'SUBMITTED', external_ref: 'bench' } : { next_state: 'READY' };
    },
  };
}

beforeAll(async () => {
  installSdk(pino({ level: 'silent' }));
  stack = await startBenchStack(() => undefined);
  db = connectDatabase({ url: stack.settings.databaseUrl });
  service = await startCostService({
    settings: stack.settings,
    db,
    executor: noting(),
    soonMs: SOON_MS,
    wrap: (activities) => ({
      ...activities,
      load: async (args) => {
        loads.set(args.movement_id, (loads.get(args.movement_id) ?? 0) + 1);
        return activities.load(args);
      },
      submit: async (args) => {
        const fate = lost.get(args.movement_id);
        const answer = activities.submit(args).then(async (said) => {
          await answered.get(args.movement_id)?.();
          return said;
        });
        if (fate === undefined) return answer;
        lost.delete(args.movement_id);
        if (fate !== 'at the end')
          return Promise.race([answer, fate.then(() => Promise.reject(new Error('gone')))]);
        await answer;
        throw new Error('the answer was lost');
      },
    }),
  });
  api = new MovementApi(`http://127.0.0.1:${String(service.port)}`);
  for (const template of [CHAIN, UNDONE, LANES, EITHER])
    expect(await service.api.register(template)).toEqual([]);
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await db?.$disconnect();
  await stack?.stop();
});

const callsOf = (id: string, call: Call): string[] =>
  calls.filter((each) => each.id === id && each.call === call).map(({ node }) => node);
const sent = (id: string): string[] => callsOf(id, 'submit');

const created = ({ template_key }: TemplateBody): Promise<Created> =>
  api.create(template_key, { amount: '5' });

/** Approved, with `doing` before each answer of the executor. */
async function startMovement(
  template: TemplateBody,
  doing: (call: Call, node: string, id: string) => Promise<void> = async () => undefined,
): Promise<string> {
  const movement = await created(template);
  const id = movement.movement_id;
  before.set(id, (call, node) => doing(call, node, id));
  await api.approve(movement);
  return id;
}

async function activities(id: string): Promise<readonly string[]> {
  const { events } = await service.temporal.client.workflow
    .getHandle(movementWorkflowId(id))
    .fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
}

const wake = (id: string): Promise<void> =>
  service.temporal.client.workflow.getHandle(movementWorkflowId(id)).signal('wake', null);

async function consistent(id: string): Promise<void> {
  assertConsistent(await api.movement(id), await api.timeline(id));
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

test('a chain is one activity, and each of its nodes is prepared, sent and recorded separately', async () => {
  const id = await startMovement(CHAIN);
  await api.reaches(id, 'COMPLETED');
  await consistent(id);
  expect(await activities(id)).toEqual(['submit']);
  // To begin, and for each of two signals.
  expect(loads.get(id)).toBeLessThanOrEqual(3);
  for (const call of ['preflight', 'prepare', 'submit', 'observe'] as const)
    expect(callsOf(id, call)).toEqual(['n1', 'n2', 'n3']);
  const story = (await api.timeline(id)).map(({ event_type, node_key }) =>
    `${event_type} ${node_key ?? ''}`.trim(),
  );
  const ofNode = (node: string): string[] =>
    ['preflight_passed', 'prepared', 'submitting', 'submitted', 'completed'].map(
      (event) => `node_${event} ${node}`,
    );
  const started = story.indexOf('node_preflight_passed n1');
  expect(story.slice(started)).toEqual([
    ...ofNode('n1'),
    'node_ready n2',
    'frontier_advanced',
    ...ofNode('n2'),
    'node_ready n3',
    'frontier_advanced',
    ...ofNode('n3'),
    'request_completed',
  ]);
  // A key, a fence and an outcome for each.
  const attempts = await db.nodeAttempt.findMany({ where: { movement_id: id } });
  expect(attempts.map(({ idempotency_key, outcome }) => [idempotency_key, outcome])).toEqual(
    expect.arrayContaining(['n1', 'n2', 'n3'].map((n) => [`${id}:${n}:1`, 'COMPLETED'])),
  );
});

test.each(['n1', 'n2', 'n3'])(
  'a run that is woken while its activity sends %s begins nothing beside it',
  async (node) => {
    const [held, sending] = [gate(), gate()];
    const id = await startMovement(CHAIN, async (call, at) => {
      if (call !== 'submit' || at !== node) return;
      sending.open();
      await held.opened;
    });
    await sending.opened;
    const seen = loads.get(id) ?? 0;
    await wake(id);
    await eventually(async () => ((loads.get(id) ?? 0) > seen ? true : null));
    // All that the run started because of that would run by now.
    await sleep(500);
    held.open();
    await api.reaches(id, 'COMPLETED');
    await consistent(id);
    expect(sent(id)).toEqual(['n1', 'n2', 'n3']);
    expect(callsOf(id, 'recover')).toEqual([]);
  },
);

test('a freeze that ends before the run has the answer of its activity leaves no node waiting', async () => {
  const movement = await created(CHAIN);
  const id = movement.movement_id;
  const [held, there, kept, said] = [gate(), gate(), gate(), gate()];
  const mode = (to: string): Promise<unknown> =>
    api.expect(200, 'POST', '/admin/cutover-mode', { mode: to, reason: 'a test' });
  before.set(id, async (call, node) => {
    if (call !== 'prepare' || node !== 'n2') return;
    there.open();
    await held.opened;
  });
  answered.set(id, async () => {
    said.open();
    await kept.opened;
  });
  await api.approve(movement);
  await there.opened;
  await mode('frozen');
  held.open();
  await said.opened;
  const seen = loads.get(id) ?? 0;
  await mode('normal');
  // As the relay would.
  await wake(id);
  await eventually(async () => ((loads.get(id) ?? 0) > seen ? true : null));
  await sleep(300);
  kept.open();
  await api.reaches(id, 'COMPLETED');
  await consistent(id);
  expect(sent(id)).toEqual(['n1', 'n2', 'n3']);
});

test('a node that takes its time is the last of its activity', async () => {
  const id = await startMovement(CHAIN, async (call, node) => {
    if (call === 'observe' && node === 'n1') await sleep(SOON_MS + 200);
  });
  await api.reaches(id, 'COMPLETED');
  await consistent(id);
  expect(await activities(id)).toEqual(['submit', 'submit']);
  expect(sent(id)).toEqual(['n1', 'n2', 'n3']);
});

test.each(['preflight', 'submit'] as const)(
  'a cancel that comes during a %s lets nothing be sent behind it',
  async (during) => {
    const [held, there] = [gate(), gate()];
    const id = await startMovement(UNDONE, async (call, node) => {
      if (call !== during || node !== 'n2') return;
      there.open();
      await held.opened;
    });
    await there.opened;
    await api.act('cancel', id);
    held.open();
    await api.nodeReaches(id, 'undo', ['COMPLETED']);
    await api.reaches(id, 'CANCELLED');
    await consistent(id);
    const before = during === 'submit' ? ['n1', 'n2'] : ['n1'];
    expect([...sent(id)].sort()).toEqual([...before, 'undo']);
    const ended = during === 'submit' ? 'COMPLETED' : 'CANCELLED';
    await api.nodeReaches(id, 'n2', [ended]);
    await api.nodeReaches(id, 'n3', ['SKIPPED', 'CANCELLED']);
  },
);

test('an activity whose answer is lost has lost nothing of its nodes', async () => {
  const movement = await created(CHAIN);
  const id = movement.movement_id;
  lost.set(id, 'at the end');
  await api.approve(movement);
  await api.reaches(id, 'COMPLETED');
  await service.temporal.client.workflow.getHandle(movementWorkflowId(id)).result();
  await consistent(id);
  expect(sent(id)).toEqual(['n1', 'n2', 'n3']);
});

test('an activity that counts as dead while it sends: recovery finds the send, and the dead one goes on to nothing', async () => {
  const movement = await created(CHAIN);
  const id = movement.movement_id;
  const [held, sending, gone] = [gate(), gate(), gate()];
  before.set(id, async (call, node) => {
    if (call !== 'submit' || node !== 'n2') return;
    sending.open();
    await held.opened;
  });
  lost.set(id, gone.opened);
  await api.approve(movement);
  await sending.opened;
  gone.open();
  await eventually(async () => (callsOf(id, 'recover').includes('n2') ? true : null));
  held.open();
  await api.reaches(id, 'COMPLETED');
  await consistent(id);
  expect(sent(id)).toEqual(['n1', 'n2', 'n3']);
});

test('an executor that fails before its send is called again alone, and its node keeps the count', async () => {
  let failures = 2;
  const id = await startMovement(CHAIN, async (call, node) => {
    if (call === 'prepare' && node === 'n2' && failures-- > 0) throw new Error('not now');
  });
  await api.reaches(id, 'COMPLETED', 60_000);
  await consistent(id);
  expect(sent(id)).toEqual(['n1', 'n2', 'n3']);
});

test('lanes that end at the same time decide one after the other: nothing is left out, sent twice or sent early', async () => {
  const random = (most: number): Promise<void> => sleep(Math.floor(Math.random() * most));
  const ids = await Promise.all(
    Array.from({ length: 12 }, () =>
      startMovement(LANES, async (call, _node, id) => {
        await random(call === 'submit' ? 40 : 5);
        // Somebody looks, at any moment.
        if (Math.random() < 0.05) await wake(id);
      }),
    ),
  );
  const all = LANES.nodes.map((node) => (node as { node_key: string }).node_key).sort();
  for (const id of ids) {
    await api.reaches(id, 'COMPLETED', 60_000);
    await consistent(id);
    expect([...sent(id)].sort()).toEqual(all);
    expect(sent(id)[0]).toBe('root');
    expect(sent(id).at(-1)).toBe('join');
    expect(callsOf(id, 'recover')).toEqual([]);
  }
}, 120_000);

/** The nodes that each activity of a movement may continue with. */
async function onwardOf(template: TemplateBody): Promise<readonly (readonly [string, string[]])[]> {
  const [held, movement] = [gate(), await created(template)];
  const id = movement.movement_id;
  before.set(id, async (call) => {
    if (call === 'submit') await held.opened;
  });
  await api.approve(movement);
  await eventually(async () => (sent(id).includes('root') ? true : null));
  held.open();
  await api.reaches(id, 'COMPLETED');
  await consistent(id);
  const { events } = await service.temporal.client.workflow
    .getHandle(movementWorkflowId(id))
    .fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const data = scheduled?.input?.payloads?.[0]?.data;
    if (data == null) return [];
    const { node_key, onward = [] } = JSON.parse(Buffer.from(data).toString()) as PhaseArgs;
    return [[node_key, onward.map((next) => next.node_key)] as const];
  });
}

test('a chain continues with no node that another branch leads to', async () => {
  // A branch that lost too many races to write its decision starts again from where it is.
  const lanes = await onwardOf(LANES);
  expect(lanes.map(([node]) => node)).toEqual(
    expect.arrayContaining(['root', 'a1', 'b1', 'c1', 'join']),
  );
  for (const [node, onward] of lanes) {
    const behind = ['1', '2', '3'].filter((at) => at > node.slice(1));
    expect(onward).toEqual(/^[abc]\d$/.test(node) ? behind.map((at) => `${node[0]}${at}`) : []);
  }
  // Either of two lanes may open the way to the last node.
  for (const [, onward] of await onwardOf(EITHER)) expect(onward).toEqual([]);
});
