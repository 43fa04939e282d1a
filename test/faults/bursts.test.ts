/** Many creates at once: no run is woken again and again for one change, and none is missed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startCommandRelay } from '../../activities/relays/commands.ts';
import { movementWorkflowId } from '../../domain/messages.ts';
import { connectTemporal } from '../../platform/temporal.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { eventually, WITHDRAW_TO_TREASURY, ownStack, type Created } from '../support/own-stack.ts';

const own = ownStack({ split: true });

function burst(count: number): Promise<readonly Created[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      own.api.create(WITHDRAW_TO_TREASURY, { amount: `31.${String(index).padStart(3, '0')}` }),
    ),
  );
}

async function signalsOf({ movement_id }: Created): Promise<number> {
  const { events } = await own.temporal.workflow
    .getHandle(movementWorkflowId(movement_id))
    .fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null)
    .length;
}

async function openCommands(made: readonly Created[]): Promise<number> {
  const rows = await own.query(
    'SELECT 1 FROM commands WHERE applied_at IS NULL AND movement_id = ANY ($1::uuid[])',
    [made.map(({ movement_id }) => movement_id)],
  );
  return rows.length;
}

test('runs that wait for a worker are signalled once, however long it takes', async () => {
  await own.stack.stopChild('worker');
  // The relay of another worker, whose own worker has no time for these.
  const db = connectDatabase({ url: own.stack.databaseUrl, poolSize: 2 });
  const temporal = connectTemporal({ address: own.stack.temporalAddress, namespace: 'default' });
  const log = pino({ level: 'silent' });
  const relay = startCommandRelay({ db, temporal, log, pauseMs: 100 });
  try {
    const made = await burst(60);
    await sleep(9_000);
    expect(await openCommands(made)).toBe(60);
    const signals = await Promise.all(made.map(signalsOf));
    expect(Math.min(...signals)).toBe(1);
    // A machine that was too busy to renew a lease in time may have sent a few of them twice.
    expect(Math.max(...signals)).toBeLessThanOrEqual(2);
    expect(signals.filter((count) => count > 1).length).toBeLessThan(10);
    await own.stack.startChild('worker');
    await eventually(async () => ((await openCommands(made)) === 0 ? true : null), {
      what: () => 'the runs to see their commands',
    });
  } finally {
    await relay.stop();
    await temporal.close();
    await db.$disconnect();
  }
}, 90_000);

test('the server counts as many running movements as it lists', async () => {
  const temporal = connectTemporal({ address: own.stack.temporalAddress, namespace: 'default' });
  try {
    const made = await burst(5);
    // Its index lags.
    await eventually(
      async () => {
        const listed = new Set<string>();
        for await (const page of temporal.listRunning()) for (const id of page) listed.add(id);
        const isThere = made.every(({ movement_id }) => listed.has(movement_id));
        return isThere && (await temporal.countRunning()) === listed.size ? true : null;
      },
      { what: () => 'as many runs to be counted as are listed' },
    );
  } finally {
    await temporal.close();
  }
}, 60_000);

test('an API that is killed with a full queue strands none of it', async () => {
  // The sweeper would find them too, though later.
  await own.query("UPDATE turns SET due_at = now() + interval '1 hour'");
  // Calls hang, so nothing leaves the queue, and its leases are renewed meanwhile.
  await own.stack.kill('temporal', 'SIGSTOP');
  const made = await burst(40);
  await sleep(3_000);
  await own.stack.kill('api', 'SIGKILL');
  await own.stack.kill('temporal', 'SIGCONT');
  await eventually(async () => ((await openCommands(made)) === 0 ? true : null), {
    timeoutMs: 60_000,
    what: () => 'the relay to deliver what the API took with it',
  });
}, 120_000);
