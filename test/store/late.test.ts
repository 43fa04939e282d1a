/** The log names what has reached no run for more than a minute. */
import { pino } from 'pino';
import { startCommandRelay } from '../../activities/relays/commands.ts';
import { claimTransfers } from '../../store/capital-transfers.ts';
import { eventually } from '../support/eventually.ts';
import { transferDesk } from './capital-transfer-desk.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

test('of the commands that are late it names the oldest, once a minute at most', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  await bench.movement({ unheld: true });
  await bench.sql(
    `UPDATE commands SET claimed_until = svc_now(), created_at = svc_now()
       - CASE movement_id WHEN $1::uuid THEN interval '3 minutes' ELSE interval '2 minutes' END`,
    movement_id,
  );
  const lines: Record<string, unknown>[] = [];
  const woken = new Set<string>();
  const relay = startCommandRelay({
    db: bench.db,
    log: pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
    pauseMs: 50,
    temporal: {
      wake: (wake) => {
        if ('movementId' in wake) woken.add(wake.movementId);
        return Promise.resolve();
      },
    },
  });
  try {
    await eventually(() => Promise.resolve(woken.size === 2 ? true : null));
  } finally {
    await relay.stop();
  }
  expect(lines).toEqual([expect.objectContaining({ level: 40, movement_id, kind: 'create' })]);
  expect(lines[0]?.['waited_seconds']).toBeGreaterThanOrEqual(180);
});

test('a transfer is late when its run has not answered the wakes of a minute', async () => {
  const transfer_id = await transferDesk(bench, {}).made();
  const claimedAfter = async (wakes: number) => {
    await bench.sql(
      'UPDATE capital_transfers SET wakes = $1::integer, claimed_until = svc_now()',
      wakes,
    );
    return claimTransfers(bench.db, { idleSeconds: 3_600, limit: 10 });
  };
  expect(await claimedAfter(4)).toEqual([{ transfer_id, unseen: true, late: false }]);
  expect(await claimedAfter(5)).toEqual([{ transfer_id, unseen: true, late: true }]);
});
