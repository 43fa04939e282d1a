/**
 * More than a process can take: every request is answered, nothing that was turned away was
 * accepted, and the worker goes on.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Pool } from 'undici';
import { signatureHeaders } from '../../clients/http/index.ts';
import { PoolBusyError } from '../../prisma/pool.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { noop, storeTemplate, withdrawal } from '../support/plans.ts';

/** More than are worked on and may wait together. */
const AT_ONCE = 1_500;
/** One for the API and one for everything else of the process. */
const CONNECTIONS = '2';

let own: OwnStack;
let caller: Pool;
beforeAll(async () => {
  own = await startOwnStack({ env: { SVC_DATABASE_POOL_SIZE: CONNECTIONS } });
  // A connection for each request, and time for all of them: what ends a request here is the
  // service alone.
  caller = new Pool(own.stack.apiUrl, {
    connections: AT_ONCE,
    connect: { timeout: 120_000 },
    headersTimeout: 120_000,
  });
}, 180_000);
afterAll(async () => {
  await caller?.destroy();
  await own?.close();
});

interface Heard {
  readonly key: string;
  readonly status: number;
  readonly error: string | undefined;
  readonly retryAfter: string | undefined;
}

/** Creates a movement under a key of its own; a connection that breaks fails the test. */
async function create(template_key: string, key: string): Promise<Heard> {
  const body = JSON.stringify({
    template_key,
    template_version: 1,
    intent: { asset: 'USDC', amount: '1' },
    idempotency_key: key,
  });
  const path = '/v3/movements';
  const headers = {
    'content-type': 'application/json',
    ...(await signatureHeaders(own.stack.keys.admin, {
      method: 'POST',
      url: own.stack.apiUrl + path,
      body,
    })),
  };
  const answer = await caller.request({ method: 'POST', path, headers, body });
  const refusal = (await answer.body.json()) as { detail?: { error?: string } };
  return {
    key,
    status: answer.statusCode,
    error: refusal.detail?.error,
    retryAfter: answer.headers['retry-after'] as string | undefined,
  };
}

async function expectTrue(heard: readonly Heard[], prefix: string): Promise<void> {
  const turnedAway = heard.filter(({ status }) => status !== 201);
  const retry = expect.stringMatching(/^[123]$/);
  for (const each of turnedAway)
    expect(each).toEqual({ key: each.key, status: 503, error: 'overloaded', retryAfter: retry });
  const stored = await own.query<{ key: string }>(
    'SELECT idempotency_key AS key FROM movements WHERE starts_with(idempotency_key, $1) ORDER BY 1',
    [prefix],
  );
  const accepted = heard.filter(({ status }) => status === 201).map(({ key }) => key);
  expect(stored.map(({ key }) => key)).toEqual(accepted.sort());
}

const keys = (prefix: string): string[] =>
  Array.from({ length: AT_ONCE }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);
const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${own.stack.opsUrl}/metrics`)).text();
  const found = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

test('while no create succeeds, every caller gets an answer in time, and running movements complete', async () => {
  const plain = await storeTemplate(own.api, [noop('a')], {});
  const moving = await storeTemplate(own.api, [withdrawal(own.stack.chain, 'out')], {});
  const movement = await own.api.create(moving, { amount: '5' });
  // Every create refers to its template's row, so it waits for whoever has that row.
  const holder = new pg.Client({ connectionString: own.stack.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM plan_template_versions WHERE template_key = $1 FOR UPDATE', [
    plain,
  ]);
  await own.api.approve(movement);

  let heard = 0;
  const storm = keys('held-').map((key) =>
    create(plain, key).finally(() => {
      heard += 1;
    }),
  );
  const isOver = async (): Promise<true | null> => {
    const [row] = await own.query<{ request_state: string }>(
      'SELECT request_state FROM movements WHERE movement_id = $1',
      [movement.movement_id],
    );
    return (heard >= AT_ONCE - 10 && row?.request_state === 'COMPLETED') || null;
  };
  const end = Promise.allSettled(storm);
  await eventually(isOver, {
    timeoutMs: 100_000,
    what: () => `the movement to complete and all to be answered (${heard} are)`,
  });
  const ready = await fetch(`${own.stack.opsUrl}/readyz`);
  expect(await ready.json()).toMatchObject({ status: 'ready', checks: { postgres: { ok: true } } });
  await holder.query('COMMIT');
  await holder.end();
  await end;
  const answers = await Promise.all(storm);
  await expectTrue(answers, 'held-');
  expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThanOrEqual(
    AT_ONCE - 10,
  );
  expect(await metric('svc_http_overloaded_total')).toBe(
    answers.filter(({ status }) => status === 503).length,
  );
}, 180_000);

test('a crowd that is worked off is answered whole', async () => {
  const template = await storeTemplate(own.api, [noop('a')], {});
  const answers = await Promise.all(keys('crowd-').map((key) => create(template, key)));
  await expectTrue(answers, 'crowd-');
  expect(answers.some(({ status }) => status === 201)).toBe(true);
  await eventually(async () => ((await metric('svc_http_requests_admitted')) === 0 ? true : null));
}, 180_000);

test('what goes on behind the requests may find no connection free, which is repeated; it met no other fault', () => {
  const log = readFileSync(join(own.stack.dataDir, 'logs', 'service.log'), 'utf8');
  const faults = log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string; err?: unknown })
    .filter(({ level }) => level >= 40)
    .filter(({ msg }) => msg !== 'overloaded: requests are turned away');
  // A request that got no connection in time must not report that the database is gone.
  const busy = new PoolBusyError().message;
  expect(faults.filter(({ err }) => !JSON.stringify(err ?? null).includes(busy))).toEqual([]);
});
