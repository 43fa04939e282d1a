/**
 * The run of a capital transfer that cannot go on is found, shown and forgotten like that of a
 * movement; what its last failed task reported is shown redacted for both.
 */
import { pino } from 'pino';
import { createTurn } from '../../activities/relays/stuck-runs.ts';
import { createApi } from '../../api/app.ts';
import { capitalTransferRoutes } from '../../api/capital-transfers/routes.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import type { LookedRun } from '../../platform/pending-task.ts';
import { dependencies, send, serve } from '../api/support.ts';
import { started } from '../support/started.ts';
import { transferDesk } from './capital-transfer-desk.ts';
import { storeBench } from './support.ts';

/** A secret that the process knows, as redacted by the name of no field. */
const OWN_SECRET = 'own-secret-of-this-process';
const REPORTED = `no answer of https://user:hidden-1@rpc.example/v2/hidden-2, key ${OWN_SECRET}`;
const SHOWN = 'no answer of https://rpc.example/…, key [redacted]';

const bench = storeBench();
const api = started(() =>
  serve(
    createApi(
      {
        ...dependencies(),
        db: bench.db,
        redact: (text) => text.replaceAll(OWN_SECRET, '[redacted]'),
      },
      [...capitalTransferRoutes, ...movementRoutes],
    ),
  ),
);

const GOES_ON: LookedRun = { runId: 'run-1', task: null, calls: [], failing: null };
const STUCK: LookedRun = {
  ...GOES_ON,
  task: {
    ...{ attempt: 9, failures: 1, waitsMs: null, prolongedMs: null, hasWorker: true },
    failure: { nondeterminism: false, message: REPORTED },
  },
};

/** One turn that finds this of each run; returns the transfers and movements whose runs it saw. */
async function turn(of: (id: string) => LookedRun): Promise<readonly string[]> {
  const looked: string[] = [];
  await createTurn({
    ...{ db: bench.db, log: pino({ level: 'silent' }), sweepIdleSeconds: 15 },
    temporal: {
      lookAtRun: (run) => {
        looked.push('transferId' in run ? `transfer ${run.transferId}` : run.movementId);
        return Promise.resolve(of('transferId' in run ? run.transferId : run.movementId));
      },
    },
  })();
  return looked;
}

const rows = () =>
  bench.sql<{ kind: string; id: string }>(
    'SELECT kind, entity_id::text AS id FROM stuck_runs ORDER BY 2',
  );

interface Shown {
  readonly attention: {
    readonly reason: string;
    readonly message: string;
    readonly last_answer: string | null;
    readonly actions: readonly { readonly action: string }[];
  } | null;
}
async function shown(path: string): Promise<Shown> {
  const { status, body } = await send(`${api.url}/v3${path}`);
  expect(status).toBe(200);
  return body as unknown as Shown;
}

const set = (id: string, what: string): Promise<unknown> =>
  bench.sql(`UPDATE capital_transfers SET ${what} WHERE transfer_id = $1::uuid`, id);

test('of a transfer: a look finds it, one and the list show it, and an end forgets it', async () => {
  const desk = transferDesk(bench, {});
  const [stuck, fine, over] = [await desk.made(), await desk.made(), await desk.made()];
  await set(over, "request_state = 'FAILED', ended_at = now()");
  const looked = await turn((id) => (id === stuck ? STUCK : GOES_ON));
  expect([...looked].sort()).toEqual([`transfer ${fine}`, `transfer ${stuck}`].sort());
  expect(await rows()).toEqual([{ kind: 'capital_transfer', id: stuck }]);

  const expected = {
    attention: {
      reason: 'run_stuck',
      message: expect.stringContaining('nothing is sent twice') as unknown,
      last_answer: SHOWN,
      actions: [],
    },
  };
  expect(await shown(`/capital-transfers/${stuck}`)).toMatchObject(expected);
  expect(await shown(`/capital-transfers/${fine}`)).toMatchObject({ attention: null });
  const { body } = await send(`${api.url}/v3/capital-transfers`);
  expect(body['capital_transfers']).toContainEqual(
    expect.objectContaining({ transfer_id: stuck, ...expected }),
  );

  // A person who knows the outcome can still say it.
  await set(stuck, "request_state = 'MANUAL_INTERVENTION'");
  const waits = (await shown(`/capital-transfers/${stuck}`)).attention;
  expect([waits?.reason, waits?.actions.map(({ action }) => action)]).toEqual([
    'run_stuck',
    ['resolve'],
  ]);

  await set(stuck, "request_state = 'COMPLETED', ended_at = now()");
  expect((await shown(`/capital-transfers/${stuck}`)).attention).toBeNull();
  expect(await turn(() => GOES_ON)).not.toContain(`transfer ${stuck}`);
  expect(await rows()).toEqual([]);
});

test('a transfer whose run goes on again needs no person', async () => {
  const id = await transferDesk(bench, {}).made();
  await turn((each) => (each === id ? STUCK : GOES_ON));
  expect((await shown(`/capital-transfers/${id}`)).attention?.reason).toBe('run_stuck');
  await turn(() => GOES_ON);
  expect((await shown(`/capital-transfers/${id}`)).attention).toBeNull();
});

test('the list of those that need a person: each once, page by page, with the other filters', async () => {
  const desk = transferDesk(bench, {});
  const ids: string[] = [];
  for (let made = 0; made < 6; made += 1) ids.push(await desk.made());
  const [waits = '', stuck = '', both = '', , ended = '', old = ''] = ids;
  await turn((id) => ([stuck, both, ended, old].includes(id) ? STUCK : GOES_ON));
  for (const id of [waits, both]) await set(id, "request_state = 'MANUAL_INTERVENTION'");
  await set(ended, "request_state = 'COMPLETED', ended_at = now()");
  // No look has found this one stuck for longer than a row counts.
  await bench.sql(
    "UPDATE stuck_runs SET last_seen = last_seen - interval '2 hours' WHERE entity_id = $1::uuid",
    old,
  );

  const { source_venue: venue } = (await shown(`/capital-transfers/${waits}`)) as unknown as {
    readonly source_venue: string;
  };
  interface Page {
    readonly capital_transfers: readonly ({ readonly transfer_id: string } & Shown)[];
    readonly next_cursor: string | null;
  }
  const page = async (query: string): Promise<Page> => {
    const path = `/v3/capital-transfers?source_venue=${venue}&${query}`;
    const { status, body } = await send(`${api.url}${path}`);
    expect(status).toBe(200);
    return body as unknown as Page;
  };
  const listed = async (query: string) =>
    (await page(query)).capital_transfers.map(({ transfer_id }) => transfer_id);

  const all = (await page('limit=50')).capital_transfers;
  expect(all).toHaveLength(6);
  const expected = [waits, stuck, both];
  const needing = all.map(({ transfer_id }) => transfer_id).filter((id) => expected.includes(id));
  expect(await listed('needs_attention=true')).toEqual(needing);
  // As the records themselves say.
  expect(needing).toEqual(
    all.flatMap(({ transfer_id, attention }) => (attention === null ? [] : [transfer_id])),
  );
  const walked: string[] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? '' : `&cursor=${cursor}`;
    const next: Page = await page(`needs_attention=true&limit=1${at}`);
    walked.push(...next.capital_transfers.map(({ transfer_id }) => transfer_id));
    cursor = next.next_cursor;
  } while (cursor !== null);
  expect(walked).toEqual(needing);

  expect(await listed('needs_attention=true&state=CREATED')).toEqual([stuck]);
  for (const other of ['state=COMPLETED', 'asset=USDT', 'strategy_id=x', 'destination_venue=x'])
    expect(await listed(`needs_attention=true&${other}`)).toEqual([]);
});

test('of a movement: what the failed task reported is shown without secrets', async () => {
  const { movement_id } = await bench.movement({ unheld: true });
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await turn((id) => (id === movement_id ? STUCK : GOES_ON));
  const { attention } = await shown(`/movements/${movement_id}`);
  expect([attention?.reason, attention?.last_answer]).toEqual(['run_stuck', SHOWN]);
  expect(JSON.stringify(attention)).not.toMatch(/hidden-|own-secret/);
});
