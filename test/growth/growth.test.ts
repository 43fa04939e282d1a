/**
 * What the service costs when it has a million movements behind it: the plan of every statement of
 * the API and the loops, and how long callers wait. `GROWTH_MOVEMENTS` makes it a smaller one.
 */
import { writeFileSync } from 'node:fs';
import pg from 'pg';
import { median } from '../../bench/stats.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { readCountDifferences } from '../../store/counts.ts';
import { CALLS, samplesOf, type Call, type Samples } from './calls.ts';
import { startScratchDatabase, type ScratchDatabase } from './database.ts';
import { findingsOf, watchPlans, type Bounds, type Watched } from './plans.ts';
import { seed } from './seed.ts';
import { makePrototype, openWorld, type World } from './world.ts';

const MOVEMENTS = Number(process.env['GROWTH_MOVEMENTS'] ?? '1000000');
/** What the million is compared with: as good as nothing, but its pages are full. */
const FEW = 10_000;
/** A short run shows plans; its times say nothing. */
const isShort = MOVEMENTS < 100_000;
/** More often than a prepared statement is planned anew each time. */
const TURNS = 8;
/** How often a call is timed, in turns with the small database. */
const TIMED = 21;
const MOST_RATIO = 1.5;

/** Calls that may take longer than that, and why; docs/performance.md says it too. */
const SLOWER: Readonly<Record<string, string>> = {
  'listMovements needs_attention=true state=FAILED': 'what failed in the last week is sorted',
};

/** Indexes that no plan here misses, and what they are for. */
const NOT_MISSED: Readonly<Record<string, string>> = {
  callbacks_due: 'callbacks_by_status finds what is pending too, while it is little',
  commands_due: 'commands_unapplied finds what is due too, while it is little',
  movement_nodes_frozen: 'is read when the switch is changed back',
  evm_transactions_allowances:
    'evm_transactions_nonce finds the same, while an address has sent little',
  movement_nodes_await_payments: 'is read when a payment is claimed that another node may wait for',
  movement_nodes_open_burns: 'is read when a person names the mint of a burn',
  callbacks_line: 'callbacks_sequence finds the same among all that a movement has',
  template_proposals_due: 'template_proposals_by_status finds what is due too, while it is little',
  template_proposals_by_authority: 'template_proposals_newest finds the same: here is one agent',
  node_attempts_by_lane: 'is read by sends in a lane, and here are none',
  budget_reservations_movement: 'is read by an approval, and each can be granted only once',
  budget_reservations_window: 'budget_reservations_movement finds the window of all policies',
};

interface Place {
  readonly db: Database;
  readonly world: World;
  readonly samples: Samples;
}

let server: ScratchDatabase;
let big: Place;
let small: Place;
let watched: Watched;
let watchedWorld: World;
let bounds: Bounds;

beforeAll(async () => {
  server = await startScratchDatabase();
  small = await seeded(await server.another('few'), FEW);
  const began = performance.now();
  big = await seeded(server.url, MOVEMENTS);
  const seconds = (performance.now() - began) / 1_000;
  console.info(`${MOVEMENTS.toLocaleString('en')} movements in ${seconds.toFixed(1)} s`);
  bounds = { big: await bigTables(big.db), rows: 1_500, blocks: 15_000 };
  // Small tables are read as a whole, rightly; where an index is missing that shows all the same.
  watched = watchPlans(server.url, isShort ? { enable_seqscan: 'off' } : {});
  watchedWorld = await openWorld(watched.db);
}, 3_600_000);
afterAll(async () => {
  await watchedWorld?.close();
  await watched?.db.$disconnect();
  for (const place of [big, small]) {
    await place?.world.close();
    await place?.db.$disconnect();
  }
  await server?.close();
});

async function seeded(url: string, movements: number): Promise<Place> {
  const db = connectDatabase({ url });
  const world = await openWorld(db);
  await seed(url, { movements, prototype: await makePrototype(world) });
  return { db, world, samples: await samplesOf(db) };
}

/** The tables that hold rows for each movement, or for some of them. */
async function bigTables(db: Database): Promise<ReadonlySet<string>> {
  const rows = await db.sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r'
      AND relnamespace = 'public'::regnamespace AND reltuples > ${MOVEMENTS}::integer / 25`;
  return new Set(rows.map(({ name }) => name));
}

/** What is wrong with the plans of a call, each thing once. */
async function findings(
  call: Call,
  turns: number,
  limits: Bounds = bounds,
): Promise<readonly string[]> {
  watched.take();
  for (let turn = 0; turn < turns; turn += 1)
    await call.run(watchedWorld, watched.db, big.samples, turn);
  const { rows = limits.rows, blocks = limits.blocks } = call;
  const within = { ...limits, rows, blocks };
  const found = watched.take().flatMap((each) => findingsOf(each, within));
  return [...new Set(found.map(({ what, text }) => `${what} in ${text}`))];
}

describe('the counts that are kept', () => {
  test('are what the rows say', async () => {
    expect(await readCountDifferences(big.db)).toEqual([]);
  });
});

describe('callers wait as long as before', () => {
  const lines: string[] = [];
  afterAll(() => {
    const table = ['| call | of 10,000 | of all | ratio |', '|---|---|---|---|', ...lines].join(
      '\n',
    );
    console.info(table);
    const file = process.env['GROWTH_TABLE'];
    if (file !== undefined) writeFileSync(file, `${table}\n`);
  });

  /** The medians of a call in milliseconds, each in turns with the other. */
  async function compare(call: Call): Promise<{ before: number; after: number }> {
    const times: [number[], number[]] = [[], []];
    const timed = async (which: 0 | 1, turn: number): Promise<void> => {
      const { world, db, samples } = which === 0 ? small : big;
      const began = performance.now();
      await call.run(world, db, samples, turn);
      if (turn > 3) times[which].push(performance.now() - began);
    };
    for (let turn = 0; turn < TIMED + 4; turn += 1) {
      await timed(turn % 2 === 0 ? 0 : 1, turn);
      await timed(turn % 2 === 0 ? 1 : 0, turn);
    }
    return { before: median(times[0]), after: median(times[1]) };
  }

  test.each(CALLS.filter((call) => call.measured).map((call) => [call.name, call] as const))(
    '%s',
    async (name, call) => {
      let { before, after } = await compare(call);
      // What else the machine does can only add to one of them; growth is there each time.
      for (let again = 0; again < 3 && after / before > MOST_RATIO; again += 1) {
        const anew = await compare(call);
        if (anew.after / anew.before < after / before) ({ before, after } = anew);
      }
      const ratio = after / before;
      const ms = (value: number): string => `${value.toFixed(2)} ms`;
      lines.push(`| ${name} | ${ms(before)} | ${ms(after)} | ${ratio.toFixed(2)} |`);
      if (!isShort && !Object.hasOwn(SLOWER, name)) expect(ratio).toBeLessThanOrEqual(MOST_RATIO);
      expect(after).toBeGreaterThan(0);
    },
  );
});

describe('no statement reads more than what it answers', () => {
  test.each(CALLS.map((call) => [call.name, call] as const))(
    '%s',
    async (_name, call) => {
      expect(await findings(call, TURNS)).toEqual([]);
    },
    180_000,
  );
});

describe('an index that is gone is missed', () => {
  let owner: pg.Client;
  let indexes: readonly { readonly name: string; readonly made: string }[] = [];
  beforeAll(async () => {
    owner = new pg.Client({ connectionString: server.url });
    await owner.connect();
    ({ rows: indexes } = await owner.query<{ name: string; made: string }>(
      `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS made
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
       WHERE t.relnamespace = 'public'::regnamespace AND t.relname = ANY ($1)
         AND NOT i.indisunique`,
      [[...bounds.big]],
    ));
  });
  afterAll(() => owner?.end());

  /** Calls that can be made again and again. */
  const measured = CALLS.filter((call) => call.measured || call.route === null);

  test('each of them', async () => {
    // A million rows make an index in half a minute; a few thousand show the same.
    if (!isShort) return;
    expect(indexes.length).toBeGreaterThan(25);
    const unmissed: string[] = [];
    const before = await all();
    for (const { name, made } of indexes) {
      await owner.query(`DROP INDEX ${name}`);
      const found = await all();
      await owner.query(made);
      if (![...found].some((each) => !before.has(each))) unmissed.push(name);
    }
    expect(unmissed.sort()).toEqual(Object.keys(NOT_MISSED).sort());
  }, 1_800_000);

  /** What is found of every call within narrow bounds, without its figures. */
  async function all(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const call of measured)
      for (const each of await findings(call, 1, { ...bounds, rows: 600 }))
        found.add(`${call.name}: ${each.replace(/\d+/g, '')}`);
    return found;
  }
});
