/** Which nodes a load sends to the task queue of their venue. */
import { pino } from 'pino';
import { createMovementActivities } from '../../activities/movement.ts';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { LEAST_ASSURANCES, type ExecutorDescriptor } from '../../domain/executor.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { paying, storeBench } from './support.ts';

const bench = storeBench();
const QUEUE = 'fund-movements/venue/rated';

/** An executor that returns at once: without a queue, another node's activity may go on with it. */
const AT_ONCE: ExecutorDescriptor = {
  executor_key: 'acme.payouts',
  kind: 'local',
  action_types: ['acme_payout'],
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 5,
  in_process: true,
  sends: true,
  payees: [],
  not_payees: [],
  completion_assurances: LEAST_ASSURANCES,
};

function activities(
  queuedVenues: PhaseDependencies['queuedVenues'],
  descriptor: ExecutorDescriptor = AT_ONCE,
) {
  return createMovementActivities({
    db: bench.db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: { get: () => undefined, describe: () => descriptor },
    signers: { get: () => undefined },
    signing: createEvmSigning(createEvmChains([])),
    ...(queuedVenues === undefined ? {} : { queuedVenues }),
  });
}

/** Nodes at a venue with a queue, at one without, and at none. */
async function movement(): Promise<string> {
  const nodes = [
    paying('rated', { venue: 'rated' }),
    paying('unrated', { venue: 'unrated' }),
    paying('alone', {}),
  ];
  const { movement_id } = await bench.movement({ shape: { nodes, edges: [] } });
  return movement_id;
}

async function nodesOf(
  of: ReturnType<typeof activities>,
  movement_id: string,
): Promise<Readonly<Record<string, object>>> {
  const view = await of.load({ movement_id, run_id: 'a run', decides: true });
  return Object.fromEntries(
    (view?.nodes ?? []).map(({ node_key, chained, carried, venue_queue, task_queue }) => [
      node_key,
      { chained, carried, venue_queue, task_queue },
    ]),
  );
}

const OURS = { chained: true, carried: true };

test('a node of a venue with a queue runs there, and no other activity goes on with it', async () => {
  const found = await nodesOf(activities(new Set(['rated'])), await movement());
  expect(found).toEqual({
    rated: { chained: true, venue_queue: QUEUE },
    unrated: OURS,
    alone: OURS,
  });
});

test('without a queue in the venues file all nodes run on the queue of the workers', async () => {
  const id = await movement();
  const all = { rated: OURS, unrated: OURS, alone: OURS };
  expect(await nodesOf(activities(undefined), id)).toEqual(all);
  expect(await nodesOf(activities(new Set()), id)).toEqual(all);
});

test("a team's worker is called on its own queue, whatever the venue", async () => {
  const team = { ...AT_ONCE, kind: 'task_queue', task_queue: 'team' } as const;
  const { rated } = await nodesOf(activities(new Set(['rated']), team), await movement());
  expect(rated).toEqual({ task_queue: 'team' });
});

test('a worker says where the calls of a node run now', async () => {
  const movement_id = await movement();
  const of = (node_key: string, queued: readonly string[]): Promise<string | null> =>
    activities(new Set(queued)).queueOf({ movement_id, node_key });
  expect(await of('rated', ['rated'])).toBe(QUEUE);
  expect(await of('rated', ['unrated'])).toBeNull();
  expect(await of('rated', [])).toBeNull();
  expect(await of('alone', ['rated'])).toBeNull();
});

test('a movement that does not exist has none', async () => {
  const nowhere = '00000000-0000-7000-8000-000000000000';
  const ours = activities(new Set(['rated']));
  expect(await ours.load({ movement_id: nowhere, run_id: 'a run', decides: true })).toBeNull();
});
