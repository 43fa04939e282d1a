/**
 * Each way of waking a movement names its strategy, since the wake may start a run, and a run has
 * the turn that it was started with.
 */
import { pino } from 'pino';
import { startCommandRelay } from '../../activities/relays/commands.ts';
import { startSweeper, startWaitingSweeper } from '../../activities/relays/sweeper.ts';
import type { Loop } from '../../platform/loop.ts';
import type { Wake } from '../../platform/temporal.ts';
import { loadMovement } from '../../store/phases.ts';
import { rebuildRuns } from '../../tools/movements/rebuild.ts';
import { eventually } from '../support/eventually.ts';
import { storeBench } from './support.ts';

const log = pino({ level: 'silent' });
const bench = storeBench();
const STRATEGY = 'rebalance';

beforeEach(async () => {
  await bench.sql("UPDATE movements SET request_state = 'REJECTED', ended_at = now()");
  await bench.sql('UPDATE commands SET applied_at = now() WHERE applied_at IS NULL');
  await bench.sql('UPDATE turns SET due_at = now()');
});

/** A server without runs, which takes every wake. */
function server() {
  const strategies = new Map<string, string | null | undefined>();
  return {
    strategies,
    temporal: {
      listRunning: async function* () {
        yield await Promise.resolve([]);
      },
      countRunning: () => Promise.resolve(0),
      isRunning: () => Promise.resolve(false),
      wake: (wake: Wake) => {
        if ('movementId' in wake) strategies.set(wake.movementId, wake.about?.strategy_id);
        return Promise.resolve();
      },
    },
  };
}

/** Movements with and without a strategy, an hour old. */
async function pair(): Promise<readonly [named: string, nameless: string]> {
  const named = await bench.movement({ unheld: true, strategy_id: STRATEGY });
  const nameless = await bench.movement({ unheld: true });
  await bench.sql(
    `UPDATE movements SET created_at = created_at - interval '1 hour',
       updated_at = updated_at - interval '1 hour' WHERE ended_at IS NULL`,
  );
  return [named.movement_id, nameless.movement_id];
}

/** The same, under way, with commands that a load has read. */
async function underWay(): Promise<readonly [named: string, nameless: string]> {
  const both = await pair();
  for (const id of both) await loadMovement(bench.db, id, 'a run');
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', updated_at = now() - interval '1 hour'
     WHERE ended_at IS NULL`,
  );
  return both;
}

async function expectStrategies(
  [named, nameless]: readonly [string, string],
  { strategies }: ReturnType<typeof server>,
  loop: Loop,
): Promise<void> {
  try {
    await eventually(() => Promise.resolve(strategies.size === 2 ? true : null));
  } finally {
    await loop.stop();
  }
  expect(strategies.get(named)).toBe(STRATEGY);
  expect(strategies.get(nameless)).toBeNull();
}

test('the relay of commands', async () => {
  const both = await pair();
  await bench.sql('UPDATE commands SET claimed_until = now() WHERE applied_at IS NULL');
  const calls = server();
  const relay = startCommandRelay({ db: bench.db, log, pauseMs: 50, temporal: calls.temporal });
  await expectStrategies(both, calls, relay);
});

test.each([
  ['never', 'NULL'],
  ['an hour ago', "now() - interval '1 hour'"],
])('the sweeper, of what it swept before: %s', async (_when, at) => {
  const both = await underWay();
  await bench.sql(`UPDATE movements SET swept_at = ${at} WHERE ended_at IS NULL`);
  const calls = server();
  const sweeper = startSweeper({
    ...{ db: bench.db, log, sweepIdleSeconds: 1 },
    temporal: calls.temporal,
  });
  await expectStrategies(both, calls, sweeper);
});

test('the sweeper of movements that wait for their approval', async () => {
  const both = await pair();
  const calls = server();
  const sweeper = startWaitingSweeper({
    ...{ db: bench.db, log, sweepIdleSeconds: 1, isOfSample: () => false },
    temporal: calls.temporal,
  });
  await expectStrategies(both, calls, sweeper);
});

test('`fundadmin movements rebuild`', async () => {
  const [named, nameless] = await underWay();
  const { temporal, strategies } = server();
  await rebuildRuns(bench.db, temporal, { dryRun: false });
  expect(strategies).toEqual(
    new Map([
      [named, STRATEGY],
      [nameless, null],
    ]),
  );
});
