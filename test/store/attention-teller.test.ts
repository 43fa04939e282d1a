/** How often the reasons that Temporal's runs show are compared with those in the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startAttentionTeller } from '../../activities/relays/attention.ts';
import { movementWorkflowId } from '../../domain/messages.ts';
import { eventually } from '../support/eventually.ts';
import { storeBench } from './support.ts';

const PAUSE_MS = 50;
/** Until the next list after one in which nothing differs; in quiet ten times as long. */
const SETTLED_MS = 16 * PAUSE_MS;

const log = pino({ level: 'silent' });
const bench = storeBench();
beforeAll(async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, health_state, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{acme_payout}', 'up', now(), now())`,
  );
});

/** A movement that is observed and needs no person. */
async function observed(): Promise<string> {
  const { movement_id } = await bench.movement({ unheld: true });
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    "UPDATE movement_nodes SET state = 'OBSERVING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  return movement_id;
}

/** Whether it needs a person, for a reason that its state does not show. */
const setLate = (id: string, isLate: boolean): Promise<unknown> =>
  bench.sql(
    'UPDATE movement_nodes SET error_code = $2::text WHERE movement_id = $1::uuid',
    id,
    isLate ? 'BRIDGE_DELIVERY_LATE' : null,
  );

/** A teller, how often it has read the list, what that holds, and the reasons it has signalled. */
function startTeller() {
  const server = {
    lists: 0,
    shown: new Map<string, string>(),
    signalled: [] as (readonly [workflowId: string, reason: string | null])[],
  };
  const teller = startAttentionTeller({
    ...{ db: bench.db, log, pauseMs: PAUSE_MS },
    leases: { under: (_lease, work) => work },
    temporal: {
      tell: async (workflowId, attention) =>
        void server.signalled.push([workflowId, attention?.reason ?? null]),
      showEnded: async () => undefined,
      listShownReasons: async () => {
        server.lists += 1;
        return server.shown;
      },
    },
  });
  return { teller, server };
}

test('seldom while no run has to show a reason, and at once when one has', async () => {
  const id = await observed();
  const { teller, server } = startTeller();
  try {
    await eventually(async () => (server.lists >= 2 ? true : null));
    await sleep(2 * SETTLED_MS);
    expect(server.lists).toBe(2);
    await setLate(id, true);
    await eventually(async () => (server.signalled.length > 0 ? true : null));
    expect(server.signalled[0]).toEqual([movementWorkflowId(id), 'delivery_late']);
  } finally {
    await teller.stop();
    await setLate(id, false);
  }
});

test('soon after a list in which something differed, since the run may show more', async () => {
  const { teller, server } = startTeller();
  try {
    server.shown.set('over', 'delivery_late');
    await eventually(async () => (server.signalled.length > 0 ? true : null));
    expect(server.signalled[0]).toEqual(['over', null]);
    server.shown.clear();
    const since = server.lists;
    await eventually(async () => (server.lists > since ? true : null));
    const settled = server.lists;
    await eventually(async () => (server.lists > settled ? true : null), {
      timeoutMs: 5 * SETTLED_MS,
    });
  } finally {
    await teller.stop();
  }
});

test('soon after a change, since a run may show a reason only when it is over', async () => {
  const id = await observed();
  const { teller, server } = startTeller();
  try {
    await setLate(id, true);
    await eventually(async () => (server.signalled.length > 0 ? true : null));
    // The run has not taken the signal yet.
    await setLate(id, false);
    await sleep(6 * PAUSE_MS);
    server.shown.set(movementWorkflowId(id), 'delivery_late');
    await eventually(
      async () => (server.signalled.some(([, reason]) => reason === null) ? true : null),
      { timeoutMs: 5 * SETTLED_MS },
    );
    expect(server.signalled.at(-1)).toEqual([movementWorkflowId(id), null]);
  } finally {
    await teller.stop();
  }
});
