/**
 * The wake that a run stores before it leaves its build: the relay sends it once the run has had
 * its time to close, again and again until a run has loaded it, and never for what has ended.
 */
import { claimTransfers, loadTransfer, wakeTransfer } from '../../store/capital-transfers.ts';
import { claimCommands, writeWake } from '../../store/commands.ts';
import { loadMovement } from '../../store/phases.ts';
import { transferDesk } from './capital-transfer-desk.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

/** A claim as the relay makes it, in which nothing counts as idle. */
const claimed = async () => ({
  movements: (await claimCommands(bench.db, 100)).map(({ movement_id, kind }) => [
    movement_id,
    kind,
  ]),
  transfers: (await claimTransfers(bench.db, { idleSeconds: 3_600, limit: 100 })).map(
    ({ transfer_id, unseen }) => [transfer_id, unseen],
  ),
});
const NOTHING = { movements: [], transfers: [] };

/** As many seconds later, for all that waits for the relay. */
async function later(seconds: number): Promise<void> {
  for (const table of ['commands', 'capital_transfers'])
    await bench.sql(
      `UPDATE ${table} SET claimed_until = claimed_until
         - make_interval(secs => $1::double precision)`,
      seconds,
    );
}

/** How many wakes the relay takes only from two seconds after this moment on. */
async function keptSince(moment: string): Promise<number> {
  const [row] = await bench.sql<{ kept: number }>(
    `SELECT count(*)::integer AS kept FROM (
       SELECT claimed_until FROM commands WHERE applied_at IS NULL
       UNION ALL SELECT claimed_until FROM capital_transfers WHERE seen_version < version) due
     WHERE claimed_until >= $1::timestamptz + interval '2 seconds'`,
    moment,
  );
  return row?.kept ?? 0;
}

/** An open movement and an open transfer, each with a run that has seen all of it. */
async function seen(): Promise<{ readonly movement: string; readonly transfer: string }> {
  const { movement_id } = await bench.movement({ unheld: true });
  const transfer = await transferDesk(bench, {}).made();
  await loadMovement(bench.db, movement_id, 'the run before');
  await loadTransfer(bench.db, transfer, 'the run before');
  await later(61);
  expect(await claimed()).toEqual(NOTHING);
  return { movement: movement_id, transfer };
}

test('the relay sends it after two seconds, until another run has loaded it', async () => {
  const { movement, transfer } = await seen();
  const [clock] = await bench.sql<{ at: string }>('SELECT svc_now()::text AS at');
  await writeWake(bench.db, movement);
  await wakeTransfer(bench.db, transfer);
  // Sooner, its signal would only reach the run that is about to close.
  expect(await keptSince(clock?.at ?? '')).toBe(2);
  await later(2);
  const due = { movements: [[movement, 'wake']], transfers: [[transfer, true]] };
  expect(await claimed()).toEqual(due);
  await later(61);
  expect(await claimed()).toEqual(due);

  await loadMovement(bench.db, movement, 'the next run');
  await loadTransfer(bench.db, transfer, 'the next run');
  await later(61);
  expect(await claimed()).toEqual(NOTHING);
});

test('what has ended is not woken', async () => {
  const { movement, transfer } = await seen();
  await bench.sql(
    "UPDATE movements SET request_state = 'REJECTED', ended_at = now() WHERE movement_id = $1::uuid",
    movement,
  );
  await bench.sql(
    `UPDATE capital_transfers SET request_state = 'FAILED', ended_at = now()
     WHERE transfer_id = $1::uuid`,
    transfer,
  );
  await writeWake(bench.db, movement);
  await wakeTransfer(bench.db, transfer);
  await later(61);
  expect(await claimed()).toEqual(NOTHING);
});
