/**
 * The bridge registry over a database of its own: what endpoints tell, or do not, is said by the
 * test, and so is the time.
 */
import type { BridgeChain, BridgeReader } from '../../domain/bridges/registry.ts';
import type { JsonObject } from '../../domain/json.ts';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import { createApi } from '../../api/app.ts';
import { routes } from '../../venues/routes.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { readPathFacts } from '../../store/bridge-registry.ts';
import { storeBench } from '../store/support.ts';
import { dependencies, guardOf, post, send, serve, type Answer } from './support.ts';

const TABLE = withExtensions(routes, [commercial({ autoApproveDryRun: false })]);
const MAX_AGE = 600;
const closing: (() => Promise<unknown>)[] = [];

const bench = storeBench();
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await bench.sql('DELETE FROM bridge_paths');
  await bench.sql('DELETE FROM bridge_chains');
});

/** What each chain's endpoint tells; one that is not there does not answer. */
type Script = Record<string, JsonObject | Error>;

interface Service {
  readonly db: Database;
  call(method: string, path: string, body?: object): Promise<Answer>;
}

/** The API as if it were so many seconds later. */
async function service(script: Script, { later = 0, table = TABLE } = {}): Promise<Service> {
  const db = connectDatabase({
    url: bench.url,
    sessionSettings: { 'svc.clock_offset_ms': String(later * 1_000) },
  });
  closing.push(() => db.$disconnect());
  const bridge: BridgeReader = {
    read: ({ chain }) => {
      const facts = script[chain];
      if (facts instanceof Error) return Promise.reject(facts);
      return Promise.resolve(facts === undefined ? { ok: false } : { ok: true, facts });
    },
  };
  const deps = { ...dependencies({ bridgeSnapshotMaxAgeSeconds: MAX_AGE }), db, bridge };
  const caller = { client_id: null, key_id: null, role: 'admin' } as const;
  const served = await serve(createApi(deps, table, { guard: guardOf(caller) }));
  closing.push(() => served.close());
  return {
    db,
    call: (method, path, body) =>
      method === 'POST'
        ? post(`${served.url}/v3${path}`, body ?? {})
        : send(`${served.url}/v3${path}`, {
            method,
            ...(body === undefined
              ? {}
              : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
          }),
  };
}

const identity = (digit: number): string => `3018${String(digit)}:0x${String(digit).repeat(40)}`;
const chain = (name: string, digit: number) => ({
  ...{ chain: name, endpoint_identity: identity(digit), finality_age_seconds: 900 },
});
const REFRESH = '/executors/bridge-c/refresh-registry';
const CHAINS = '/bridge-c/chain-registry';

async function two(api: Service): Promise<void> {
  for (const each of [chain('a', 1), chain('b', 2)])
    expect((await api.call('POST', CHAINS, each)).status).toBe(200);
}

/** What a refresh answered of its chains. */
const seen = ({ body }: Answer) => ({
  changed: body['changed'],
  stale: body['stale'],
  versions: (body['chains'] as readonly BridgeChain[]).map((each) => each.snapshot_version),
});

test('a refresh counts what changed, and marks what does not answer', async () => {
  const script: Script = {};
  const api = await service(script);
  await two(api);
  const refresh = async () => seen(await api.call('POST', REFRESH));
  expect(await refresh()).toEqual({ changed: [], stale: ['a', 'b'], versions: [0, 0] });
  script['a'] = { eid: 1, code_hash: '0x1' };
  script['b'] = new Error('the reader is broken');
  expect(await refresh()).toEqual({ changed: ['a'], stale: ['b'], versions: [1, 0] });
  script['a'] = { code_hash: '0x1', eid: 1 };
  script['b'] = { eid: 2 };
  expect(await refresh()).toEqual({ changed: ['b'], stale: [], versions: [1, 1] });
  script['a'] = { eid: 1, code_hash: '0x2' };
  expect(await refresh()).toEqual({ changed: ['a'], stale: [], versions: [2, 1] });
  delete script['a'];
  expect(await refresh()).toEqual({ changed: [], stale: ['a'], versions: [2, 1] });
  const first = (await api.call('GET', `${CHAINS}/a`)).body['stale_detected_at'];
  expect(await refresh()).toMatchObject({ stale: ['a'] });
  const again = (await api.call('GET', `${CHAINS}/a`)).body;
  // Since when it is so, and not when it was seen last.
  expect(again).toMatchObject({ snapshot_stale: true, stale_detected_at: first });
  const rows = await bench.sql<{ details: JsonObject }>(
    `SELECT details FROM audit_events WHERE action = 'bridge_registry.refresh'
     ORDER BY occurred_at, event_id`,
  );
  expect(rows.slice(-2).map(({ details }) => details)).toEqual([
    { changed: [], stale: ['a'] },
    { changed: [], stale: ['a'] },
  ]);
});

test('a snapshot is stale after its time, by the clock of the database', async () => {
  const script: Script = { a: { eid: 1 }, b: { eid: 2 } };
  const api = await service(script);
  await two(api);
  await api.call('POST', REFRESH);
  const fresh = await api.call('GET', `${CHAINS}/a`);
  expect(fresh.body).toMatchObject({ snapshot_stale: false, stale_detected_at: null });
  const young = await service(script, { later: MAX_AGE - 60 });
  expect((await young.call('GET', CHAINS)).body).toMatchObject([
    { chain: 'a', snapshot_stale: false },
    { chain: 'b', snapshot_stale: false },
  ]);
  const old = await service(script, { later: MAX_AGE + 60 });
  const snapshotAt = Date.parse(String(fresh.body['snapshot_at']));
  expect((await old.call('GET', `${CHAINS}/a`)).body).toMatchObject({
    snapshot_stale: true,
    stale_detected_at: new Date(snapshotAt + MAX_AGE * 1_000).toISOString(),
    snapshot_version: 1,
  });
  expect(seen(await old.call('POST', REFRESH))).toEqual({
    ...{ changed: [], stale: [], versions: [1, 1] },
  });
});

test('what was read of a former identity is not kept for the new one', async () => {
  let release = (): void => undefined;
  const reading = new Promise<void>((resolve) => {
    release = resolve;
  });
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const api = await service({});
  await two(api);
  const slow: BridgeReader = {
    read: async () => {
      release();
      await held;
      return { ok: true, facts: { eid: 1 } };
    },
  };
  const deps = { ...dependencies(), db: api.db, bridge: slow };
  const caller = { client_id: null, key_id: null, role: 'admin' } as const;
  const served = await serve(createApi(deps, TABLE, { guard: guardOf(caller) }));
  closing.push(() => served.close());
  const refreshing = post(`${served.url}/v3${REFRESH}`, {});
  await reading;
  const { chain: _a, ...other } = chain('a', 3);
  expect((await api.call('PUT', `${CHAINS}/a`, other)).status).toBe(200);
  await api.call('DELETE', `${CHAINS}/b`);
  answer();
  expect(seen(await refreshing)).toEqual({ changed: [], stale: ['a'], versions: [0] });
});

test('an older look does not take the place of a newer one', async () => {
  const script: Script = { a: { eid: 1 } };
  const newer = await service(script, { later: 60 });
  await newer.call('POST', CHAINS, chain('a', 1));
  await newer.call('POST', REFRESH);
  const older = await service({ a: { eid: 9 } });
  expect(seen(await older.call('POST', REFRESH))).toEqual({
    ...{ changed: [], stale: [], versions: [1] },
  });
});

test('what decides about a path is read at once, by names or by identities', async () => {
  const api = await service({ a: { eid: 1 } });
  await two(api);
  await api.call('POST', REFRESH);
  const path = {
    ...{ src_chain: 'a', dst_chain: 'b', asset: 'usdc', fee_native_budget: '0.10' },
    ...{ expected_latency_seconds: 60, detection_latency_budget_seconds: 600 },
  };
  expect((await api.call('POST', '/bridge-c/path-baselines', path)).status).toBe(200);
  const facts = await readPathFacts(api.db, {
    source: { chain: 'a' },
    destination: { endpoint_identity: identity(2) },
    asset: 'USDC',
  });
  expect(facts).toMatchObject({
    source: { chain: 'a', snapshot_stale: false, snapshot_version: 1 },
    destination: { chain: 'b', snapshot_stale: true },
    baseline: { src_chain: 'a', dst_chain: 'b', asset: 'USDC', fee_native_budget: '0.1' },
  });
  expect(Math.abs(Date.parse(facts.now) - Date.now())).toBeLessThan(60_000);
  const none = { source: { chain: 'b' }, destination: { chain: 'a' }, asset: 'USDC' };
  expect(await readPathFacts(api.db, none)).toMatchObject({
    ...{ source: { chain: 'b' }, destination: { chain: 'a' }, baseline: null },
  });
  const unknown = { source: { chain: 'x' }, destination: { chain: 'a' }, asset: 'USDC' };
  expect(await readPathFacts(api.db, unknown)).toMatchObject({ source: null, baseline: null });
});

test('a fence that looked at a path passes only while all that decides is the same', async () => {
  const api = await service({ a: { eid: 1 }, b: { eid: 2 } });
  await two(api);
  const at = '/bridge-c/path-baselines/a/b/USDC';
  const budgets = { expected_latency_seconds: 60, detection_latency_budget_seconds: 600 };
  const fields = { ...budgets, enabled: true, fee_native_budget: '0.1' };
  const path = { src_chain: 'a', dst_chain: 'b', asset: 'USDC', ...fields };
  await api.call('POST', '/bridge-c/path-baselines', path);
  const ends = { source: identity(1), destination: identity(2).toUpperCase().replace('0X', '0x') };
  const seen = async (): Promise<object> => {
    const { version } = await readPathFacts(api.db, {
      source: { endpoint_identity: ends.source },
      destination: { endpoint_identity: ends.destination },
      asset: 'USDC',
    });
    return { requirements: { bridge_path: { ...ends, asset: 'USDC', version } } };
  };
  const problems = async (required: object): Promise<unknown> =>
    (
      await bench.sql<{ found: unknown }>(
        'SELECT binding_problems($1::jsonb, gen_random_uuid()) AS found',
        JSON.stringify(required),
      )
    )[0]?.found;
  const silent = await service({ a: { eid: 1 } });
  const changes: [string, string, (object | undefined)?, Service?][] = [
    ['POST', REFRESH],
    // Its endpoint answers no more, and nothing else is different.
    ['POST', REFRESH, undefined, silent],
    ['POST', `${at}/drill-pass`, { evidence_path: 'e' }],
    ['PUT', at, { ...fields, enabled: false, disabled_reason: 'r' }],
    ['PUT', at, { ...fields, fee_native_budget: '0.2' }],
    ['PUT', `${CHAINS}/b`, { endpoint_identity: identity(2), finality_age_seconds: 60 }],
    ['DELETE', at],
  ];
  for (const [method, where, body, by = api] of changes) {
    const looked = await seen();
    expect(await problems(looked)).toBeNull();
    expect((await by.call(method, where, body)).status).toBe(200);
    // A row that is written as it was decides nothing else.
    if (where === `${CHAINS}/b`) expect(await problems(looked)).toBeNull();
    else
      expect(await problems(looked)).toEqual([
        { binding: 'bridge_path', key: 'USDC', reason: 'changed', stop: 'bridge_path' },
      ]);
  }
});

test('the free edition has its refresh and nothing else of it', async () => {
  const free = await service({}, { table: withExtensions(routes, []) });
  for (const [method, path] of [
    ['GET', CHAINS],
    ['POST', CHAINS],
    ['GET', `${CHAINS}/a`],
    ['PUT', `${CHAINS}/a`],
    ['DELETE', `${CHAINS}/a`],
    ['GET', '/bridge-c/path-baselines'],
    ['POST', '/bridge-c/path-baselines'],
    ['PUT', '/bridge-c/path-baselines/a/b/USDC'],
    ['DELETE', '/bridge-c/path-baselines/a/b/USDC'],
    ['POST', '/bridge-c/path-baselines/a/b/USDC/drill-pass'],
  ] as const)
    expect(await free.call(method, path)).toMatchObject({
      status: 404,
      body: { detail: { error: 'route_not_found' } },
    });
  expect(await free.call('POST', REFRESH)).toMatchObject({ status: 200, body: { chains: [] } });
});
