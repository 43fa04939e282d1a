/** How far the trail is sealed, and that a trail which is no longer sealed shows it. */
import { randomUUID } from 'node:crypto';
import { addSeals, readHead, readSealState } from '../../store/audit-seals.ts';
import { storeBench } from './support.ts';

const GRACE = 60;
const bench = storeBench();

/** An event of so many seconds ago. */
async function event(seconds: number): Promise<string> {
  const id = randomUUID();
  await bench.sql(
    `INSERT INTO audit_events (event_id, occurred_at, action, entity_type, entity_key, outcome,
       details) VALUES ($1::uuid, now() - make_interval(secs => $2::integer), 'movement.create',
       'movement', 'm', 'success', '{}')`,
    id,
    seconds,
  );
  return id;
}

/** Seals the event behind all others; the hashes are no matter here. */
async function seal(event_id: string, hash: string): Promise<void> {
  const head = await readHead(bench.db);
  const position = head.position + 1n;
  const added = await addSeals(bench.db, head, [
    { position, event_id, event_hash: hash, chain_hash: hash, mac: null },
  ]);
  expect(added).toBe(true);
}

test('an event is overdue once the sealers have had their time, until it is sealed', async () => {
  const empty = await readSealState(bench.db, GRACE);
  expect(empty).toEqual({ sealed: 0, chain_hash: null, sealed_at: null, overdue: false });
  const young = await event(5);
  expect(await readSealState(bench.db, GRACE)).toEqual(empty);
  const old = await event(90);
  expect(await readSealState(bench.db, GRACE)).toEqual({ ...empty, overdue: true });
  await seal(old, 'ab'.repeat(32));
  expect(await readSealState(bench.db, GRACE)).toEqual({
    sealed: 1,
    chain_hash: 'ab'.repeat(32),
    overdue: false,
    sealed_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  await seal(young, 'cd'.repeat(32));
  expect(await readSealState(bench.db, GRACE)).toMatchObject({
    sealed: 2,
    chain_hash: 'cd'.repeat(32),
  });
});
