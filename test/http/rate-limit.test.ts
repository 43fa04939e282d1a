/**
 * The rate limit as callers meet it: an API with low limits beside the stack's own, over the same
 * database and keys.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { createApi } from '../../api/app.ts';
import { createGuard, type Guard, type GuardOptions } from '../../api/auth/guard.ts';
import { routes } from '../../venues/routes.ts';
import { listen, type Listening } from '../../api/http/server.ts';
import { signedFetch } from '../support/signed-fetch.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { parseSecretsKey, type SecretsKeys } from '../../platform/secrets.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { takeCountedNonces } from '../../store/request-nonces.ts';
import { dependencies } from '../api/support.ts';
import { shared } from '../support/http.ts';
import { SeenExamples } from '../support/seen.ts';

const LIMITS = { readRpm: 5, writeRpm: 3 };
const log = pino({ level: 'silent' });
let db: Database;
let api: Listening;
let keys: SecretsKeys;
beforeAll(async () => {
  const secretsKeys = parseSecretsKey(
    readFileSync(shared.toolEnv['SVC_SECRETS_KEY_FILE'] ?? '', 'utf8').trim(),
  );
  if (!secretsKeys.ok) throw new Error('the key of the stack cannot be read');
  keys = secretsKeys.keys;
  db = connectDatabase({ url: shared.databaseUrl, poolSize: 2 });
  const guard = guardOver(db, LIMITS);
  const deps = { ...dependencies({ authEnabled: true }), db, log };
  api = await listen({ app: createApi(deps, routes, { guard }), host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await api?.close();
  await db?.$disconnect();
});

function guardOver(over: Database, rateLimits: GuardOptions['rateLimits']): Guard {
  return createGuard({ db: over, log, secretsKeys: keys, maxSkewSeconds: 300, rateLimits });
}

const url = (path: string): string => `http://127.0.0.1:${String(api.port)}${path}`;
const statuses = async (
  times: number,
  call: () => Promise<Response>,
): Promise<readonly number[]> => {
  const found: number[] = [];
  while (found.length < times) found.push((await call()).status);
  return found;
};
const whoami = (key: SigningKey) => (): Promise<Response> => signedFetch(key, url('/v3/whoami'));

test('the role of a key limits its requests a minute; a refusal says when to retry', async () => {
  const { agent, operator, admin } = shared.keys;
  expect(await statuses(6, whoami(agent))).toEqual([200, 200, 200, 200, 200, 429]);
  // A refused call and a path that is none count as well.
  expect((await signedFetch(operator, url('/v3/nowhere'))).status).toBe(404);
  expect(
    (await signedFetch(operator, url('/v3/plan-templates'), { method: 'POST', body: '{}' })).status,
  ).toBeGreaterThanOrEqual(400);
  expect(await statuses(2, whoami(operator))).toEqual([200, 429]);
  // Another key of the same tier has its own.
  expect(await statuses(1, whoami(admin))).toEqual([200]);

  const refused = await whoami(agent)();
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  const body: unknown = await refused.json();
  expect(body).toEqual({ detail: 'rate limit exceeded' });
  const examples = await SeenExamples.servedBy(shared.opsUrl);
  examples.refused(body);
  await examples.write();
});

test('who is not known is not counted, and probes never are', async () => {
  const { operator } = shared.keys;
  const forged = { keyId: operator.keyId, secret: 'not its secret' };
  expect(await statuses(10, whoami(forged))).toEqual(Array<number>(10).fill(401));
  expect(await statuses(10, () => fetch(url('/healthz')))).toEqual(Array<number>(10).fill(200));
});

test('two APIs that share a limit let through exactly as many, and both say when the minute is over', async () => {
  const limits = { readRpm: 40, writeRpm: 25, shared: true };
  const other = connectDatabase({ url: shared.databaseUrl, poolSize: 2 });
  const deps = { ...dependencies({ authEnabled: true }), log };
  const apis = await Promise.all(
    [db, other].map((over) => {
      const app = createApi({ ...deps, db: over }, routes, { guard: guardOver(over, limits) });
      return listen({ app, host: '127.0.0.1', port: 0 });
    }),
  );
  try {
    // Nothing else counts here: every other API of this stack keeps its counts to itself.
    await db.$executeRaw`DELETE FROM rate_windows`;
    const whole = (key: SigningKey) =>
      Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          signedFetch(key, `http://127.0.0.1:${String(apis[index % 2]?.port)}/v3/whoami`),
        ),
      );
    const passed = (answers: readonly Response[]): number =>
      answers.filter(({ status }) => status === 200).length;
    const [ofAgent, ofOperator] = await Promise.all([
      whole(shared.keys.agent),
      whole(shared.keys.operator),
    ]);
    expect([passed(ofAgent), passed(ofOperator)]).toEqual([40, 25]);
    const [row] = await db.$queryRaw<{ left: number }[]>`
      SELECT extract(epoch FROM ends_at - svc_now())::float8 AS left FROM rate_windows
      WHERE key_id = ${shared.keys.agent.keyId}`;
    const waits = ofAgent
      .filter(({ status }) => status === 429)
      .map(({ headers }) => Number(headers.get('retry-after')));
    expect(waits).toHaveLength(20);
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(Math.floor(row?.left ?? 0));
      expect(wait).toBeLessThanOrEqual(60);
    }
    // The next minute is a new one, by the database's clock.
    await db.$executeRaw`UPDATE rate_windows SET ends_at = svc_now()`;
    expect(passed(await whole(shared.keys.agent))).toBe(40);
  } finally {
    await Promise.all(apis.map((each) => each.close()));
    await other.$disconnect();
  }
});

test('however many requests share a statement, each has its own place in the minute', async () => {
  await db.$executeRaw`DELETE FROM rate_windows`;
  const { agent, operator } = shared.keys;
  const places: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const wanted = Array.from({ length: 256 }, (_, index) => ({
      key_id: index % 4 === 0 ? operator.keyId : agent.keyId,
      nonce: randomUUID(),
    }));
    const taken = await takeCountedNonces(db, wanted);
    for (const [index, each] of taken.entries())
      if (index % 4 !== 0) places.push(each?.window?.place ?? 0);
    // A nonce that was taken is no request more.
    const [again] = await takeCountedNonces(db, wanted.slice(1, 2));
    expect(again).toMatchObject({ fresh: false, window: null });
  }
  expect(places).toEqual(Array.from({ length: 4 * 192 }, (_, index) => index + 1));
});
