/**
 * What consoles are to read again: whatever order transactions write and commit in, each committed
 * change is read exactly once by every reader, in one order for all; what cannot be promised any
 * more is said.
 */
import fc from 'fast-check';
import pg from 'pg';
import { connectDatabase } from '../../prisma/client.ts';
import { grantService } from '../../prisma/grant.ts';
import {
  readConsoleEvents,
  removeConsoleEvents,
  type EventPosition,
} from '../../store/console-events.ts';
import { runs } from '../support/runs.ts';
import { startStoreBench, type StoreBench } from './support.ts';

const WRITERS = 5;
let bench: StoreBench;
const writers: Writer[] = [];
beforeAll(async () => {
  bench = await startStoreBench();
  for (let index = 0; index < WRITERS; index += 1) {
    const client = new pg.Client({ connectionString: bench.url });
    await client.connect();
    writers.push({ client, open: null, known: new Set() });
  }
});
afterAll(async () => {
  await Promise.all(writers.map(({ client }) => client.end()));
  await bench?.close();
}, 30_000);

interface Writer {
  readonly client: pg.Client;
  /** What its transaction has written; null without a transaction. */
  open: string[] | null;
  /** What was committed when its transaction began. */
  known: ReadonlySet<string>;
}

/** A console that goes on from where it was, a page at a time. */
class Reader {
  readonly seen: string[] = [];
  readonly #page: number;
  position: EventPosition;

  constructor(position: EventPosition, page: number) {
    this.position = position;
    this.#page = page;
  }

  async read(): Promise<number> {
    const { events, position, isLost } = await readConsoleEvents(
      bench.db,
      this.position,
      this.#page,
    );
    expect(isLost).toBe(false);
    this.position = position;
    this.seen.push(...events.map(({ subject }) => subject));
    return events.length;
  }

  async drain(): Promise<void> {
    while ((await this.read()) > 0);
  }
}

const now = async (): Promise<EventPosition> =>
  (await readConsoleEvents(bench.db, null, 1)).position;

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('write'), who: fc.nat(WRITERS - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('commit'), who: fc.nat(WRITERS - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rollback'), who: fc.nat(WRITERS - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undo'), who: fc.nat(WRITERS - 1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read'), who: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('arrive'), who: fc.nat(2) }) },
);

test('each reader has every committed change exactly once, all in one order', async () => {
  let written = 0;
  const pages = [1, 2, 100];
  const write = async ({ client }: Writer): Promise<string> => {
    written += 1;
    const venue = `venue-${String(written)}`;
    await client.query(
      "INSERT INTO balance_snapshots VALUES ($1, 'SPOT', 'USDC', 1, 1, 1, NULL, svc_now())",
      [venue],
    );
    return venue;
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      async (steps) => {
        const committed = new Set<string>();
        // What was committed before the transaction of another began comes before that one.
        const before = new Map<string, ReadonlySet<string>>();
        const readers = await Promise.all(pages.map(async (page) => new Reader(await now(), page)));
        const late: { readonly reader: Reader; readonly known: ReadonlySet<string> }[] = [];
        const end = async (writer: Writer, how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
          if (writer.open === null) return;
          await writer.client.query(how);
          if (how === 'COMMIT') for (const each of writer.open) committed.add(each);
          writer.open = null;
        };
        for (const each of steps) {
          const writer = writers[each.who];
          if (each.do === 'read') await readers[each.who]?.read();
          else if (each.do === 'arrive')
            late.push({ known: new Set(committed), reader: new Reader(await now(), 3) });
          else if (writer === undefined) continue;
          else if (each.do === 'commit') await end(writer, 'COMMIT');
          else if (each.do === 'rollback') await end(writer, 'ROLLBACK');
          else {
            if (writer.open === null) {
              await writer.client.query('BEGIN');
              writer.open = [];
              writer.known = new Set(committed);
            }
            if (each.do === 'undo') await writer.client.query('SAVEPOINT here');
            const venue = await write(writer);
            if (each.do === 'undo') await writer.client.query('ROLLBACK TO here');
            else {
              writer.open.push(venue);
              before.set(venue, writer.known);
            }
          }
        }
        for (const [index, writer] of writers.entries())
          await end(writer, index % 2 === 0 ? 'COMMIT' : 'ROLLBACK');
        for (const reader of [...readers, ...late.map((each) => each.reader)]) await reader.drain();

        const [first = new Reader(await now(), 1)] = readers;
        expect([...first.seen].sort()).toEqual([...committed].sort());
        for (const { seen } of readers) expect(seen).toEqual(first.seen);
        for (const { known, reader } of late) {
          expect(first.seen.slice(first.seen.length - reader.seen.length)).toEqual(reader.seen);
          const missed = first.seen.slice(0, first.seen.length - reader.seen.length);
          // Whoever reads the tables after it has arrived sees there what it is not sent.
          for (const each of missed) expect(known).toContain(each);
        }
        for (const [index, each] of first.seen.entries())
          for (const earlier of before.get(each) ?? [])
            expect(first.seen.indexOf(earlier)).toBeLessThan(index);
      },
    ),
    { numRuns: runs(15, 40) },
  );
}, 120_000);

test('each change that a reader would see is one event, and others are none', async () => {
  const id = '00000000-0000-7000-8000-000000000001';
  const { movement_id } = await bench.movement({ unheld: true });
  const of = { where: `WHERE movement_id = '${movement_id}'` };
  await bench.sql(`INSERT INTO agent_authorities (authority_key, allowed_assets, allowed_chains,
    created_at, updated_at) VALUES ('authority', '{}', '{}', now(), now())`);
  const callback = { kind: 'callback', shown: { event_id: id, state: 'pending' } };
  const transfer = {
    kind: 'capital_transfer',
    shown: { transfer_id: id, version: 1, state: 'CREATED' },
  };
  const proposal = { kind: 'proposal', shown: { proposal_id: id, state: 'submitted' } };
  const movement = (more: object) => ({
    kind: 'movement',
    shown: { movement_id, version: 1, state: 'PENDING_APPROVAL', ...more },
  });
  const waits = movement({ attention_reason: 'approval' });
  const balance = { kind: 'balance', shown: { venue_key: 'venue' } };
  const writes: readonly (readonly [sql: string, ...events: object[]])[] = [
    [`UPDATE movements SET next_sequence = next_sequence + 1 ${of.where}`, waits],
    [`UPDATE movements SET swept_at = now(), updated_at = now(), run_id = 'r' ${of.where}`],
    [`UPDATE movements SET attention_told = 'failed' ${of.where}`, waits],
    [
      `INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce,
        status, next_attempt_at, created_at, updated_at) VALUES ('${id}', '${movement_id}', 'e', 99,
        'https://a.example', '{}', 'n', 'pending', now(), now(), now())`,
      callback,
    ],
    [`UPDATE callbacks SET claimed_until = now()`],
    [`UPDATE callbacks SET attempts = 1`, callback],
    [
      `INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
        request_state, source_venue, source_account_type, destination_venue,
        destination_account_type, asset, amount, reason, provider, created_by, claimed_until,
        created_at, updated_at) VALUES ('${id}', 's', 'k', '{}', 'CREATED', 'a', 'a', 'b', 'b',
        'USDC', 1, 'r', 'p', '{}', now(), now(), now())`,
      transfer,
    ],
    ['UPDATE capital_transfers SET wakes = 1, claimed_until = now(), seen_version = 1'],
    ['UPDATE capital_transfers SET next_sequence = 2', transfer],
    [
      `INSERT INTO template_proposals (proposal_id, authority_key, status, proposal_kind, asset,
        requested_notional, request, bridge_attempt, reasons, client_scope, created_by, expires_at,
        created_at, updated_at) VALUES ('${id}', 'authority', 'submitted', 'static', 'USDC', 1,
        '{}', false, '{}', 's', '{}', now(), now(), now())`,
      proposal,
    ],
    ["UPDATE template_proposals SET updated_at = now(), reasons = '{a}'"],
    [
      `INSERT INTO balance_snapshots SELECT 'venue', 'SPOT', asset, 1, 1, 1, NULL, now()
       FROM unnest(ARRAY['A', 'B', 'C']) asset`,
      balance,
    ],
    ["UPDATE balance_snapshots SET fetched_at = now() WHERE venue_key = 'venue'"],
    ["UPDATE balance_snapshots SET total = 2 WHERE venue_key = 'venue'", balance],
    ["UPDATE cutover SET reason = 'other'", { kind: 'cutover', shown: { mode: 'normal' } }],
    ['UPDATE cutover SET reason = reason'],
    ["DELETE FROM balance_snapshots WHERE venue_key = 'venue'"],
  ];
  for (const [write, ...expected] of writes) {
    const start = await now();
    await bench.sql(write);
    const { events } = await readConsoleEvents(bench.db, start, 10);
    expect({ write, events: events.map(({ kind, shown }) => ({ kind, shown })) }).toEqual({
      write,
      events: expected,
    });
  }
});

const change = (): Promise<unknown> =>
  bench.sql("UPDATE cutover SET reason = coalesce(reason, '') || 'x'");

test('a reader learns which events it has lost, and those it has seen may go', async () => {
  const start = await now();
  await change();
  const { events, position } = await readConsoleEvents(bench.db, start, 10);
  expect(events).toHaveLength(1);
  await removeConsoleEvents(bench.db, { keepSeconds: 3_600, atMost: 10 });
  expect(await readConsoleEvents(bench.db, start, 10)).toMatchObject({ isLost: false });

  while ((await removeConsoleEvents(bench.db, { keepSeconds: -60, atMost: 10 })) === 10);
  expect(await bench.sql('SELECT FROM console_events')).toHaveLength(0);
  const gone = await readConsoleEvents(bench.db, start, 10);
  expect(gone).toMatchObject({ isLost: true, events: [] });
  for (const known of [position, gone.position])
    expect(await readConsoleEvents(bench.db, known, 10)).toMatchObject({ isLost: false });
});

test('a position of another epoch, or of a transaction to come, is lost', async () => {
  const here = await now();
  for (const other of [
    { ...here, epoch: '0'.repeat(12) },
    { ...here, xid: here.xid + 1_000n },
    { ...here, xid: 2n ** 64n - 1n },
  ])
    expect(await readConsoleEvents(bench.db, other, 10)).toMatchObject({
      isLost: true,
      position: { epoch: here.epoch },
    });
});

test('the role of the service can write, change and remove no event by itself', async () => {
  await bench.sql("CREATE ROLE service_here LOGIN PASSWORD 'secret'");
  await grantService(bench.url, 'service_here');
  const url = new URL(bench.url);
  url.username = 'service_here';
  url.password = 'secret';
  const db = connectDatabase({ url: url.href, poolSize: 1 });
  try {
    const start = await now();
    const refused = { code: '42501' };
    await expect(
      db.sql`INSERT INTO console_events (kind, subject) VALUES ('cutover', 'x')`,
    ).rejects.toMatchObject(refused);
    await expect(db.sql`DELETE FROM console_events`).rejects.toMatchObject(refused);
    await expect(db.sql`UPDATE console_events_removed SET id = 0`).rejects.toMatchObject(refused);
    await db.sql`CREATE TEMP TABLE cutover (mode text)`;
    await db.sql`CREATE TRIGGER t AFTER INSERT ON pg_temp.cutover FOR EACH ROW
      EXECUTE FUNCTION note_for_consoles('cutover')`;
    await expect(db.sql`INSERT INTO pg_temp.cutover VALUES ('x')`).rejects.toMatchObject(refused);
    // What it does writes them all the same.
    await db.sql`UPDATE public.cutover SET reason = 'a test'`;
    const { events } = await readConsoleEvents(db, start, 10);
    expect(events).toMatchObject([
      { kind: 'cutover', subject: 'cutover', shown: { mode: 'normal' } },
    ]);
  } finally {
    await db.$disconnect();
  }
});
