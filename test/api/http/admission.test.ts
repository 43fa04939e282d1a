/**
 * More requests than are worked on at once: a request without room, or one that waits too long, is
 * refused before any work.
 */
import { connect } from 'node:net';
import { register } from 'prom-client';
import { ALL_ROLES } from '../../../domain/roles.ts';
import { defineRoute } from '../../../api/http/route.ts';
import { jsonObject, noBody, noParams, noQuery } from '../../../api/http/schemas.ts';
import { eventually } from '../../support/eventually.ts';
import { send, serveApi, type Answer, type Served } from '../support.ts';

let started = 0;
/** What handlers wait for. */
const held: (() => void)[] = [];
const open = (): void => {
  for (const letGo of held.splice(0)) letGo();
};
const slow = defineRoute({
  id: 'slow',
  method: 'GET',
  acts: 'never',
  power: 'reads',
  path: '/slow',
  roles: ALL_ROLES,
  tag: 'Test',
  summary: 'test',
  params: noParams,
  query: noQuery,
  body: noBody,
  response: jsonObject,
  errors: [],
  handler: async () => {
    started += 1;
    await new Promise<void>((resolve) => held.push(resolve));
    return { status: 200, body: {} };
  },
});

const served: Served[] = [];
async function serving(waitMs: number): Promise<string> {
  const api = await serveApi([slow], {}, { admission: { running: 2, waiting: 3, waitMs } });
  served.push(api);
  started = 0;
  return api.url;
}
afterEach(async () => {
  open();
  await Promise.all(served.splice(0).map((api) => api.close()));
});

const LONG = 60_000;
const admitted = async (state: string): Promise<number | undefined> =>
  (await register.getSingleMetric('svc_http_requests_admitted')?.get())?.values.find(
    ({ labels }) => labels['state'] === state,
  )?.value;
const counts = async (running: number, waiting: number): Promise<void> => {
  await eventually(
    async () =>
      ((await admitted('running')) === running && (await admitted('waiting')) === waiting) || null,
    {
      what: () => `${running} to run and ${waiting} to wait`,
    },
  );
};
function expectOverloaded({ status, headers, body }: Answer): void {
  expect([status, body.detail.error]).toEqual([503, 'overloaded']);
  expect(headers.get('retry-after')).toMatch(/^[123]$/);
  expect(headers.get('x-request-id')).not.toBeNull();
}

test('who finds no room to wait is turned away at once, and the others are answered in the end', async () => {
  const url = await serving(LONG);
  const others = Array.from({ length: 5 }, () => send(`${url}/v3/slow`));
  await counts(2, 3);
  expectOverloaded(await send(`${url}/v3/slow`));
  // Whoever asks whether the process lives gets its answer.
  expect((await send(`${url}/healthz`)).status).toBe(200);
  expect(started).toBe(2);
  open();
  await eventually(() => Promise.resolve(started === 4 || null));
  open();
  await eventually(() => Promise.resolve(started === 5 || null));
  open();
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 200,
  ]);
  await counts(0, 0);
  expect(
    (await register.getSingleMetric('svc_http_overloaded_total')?.get())?.values,
  ).toContainEqual({
    labels: { reason: 'full' },
    value: 1,
  });
});

test('who waits too long is turned away before any work', async () => {
  const url = await serving(100);
  const running = [send(`${url}/v3/slow`), send(`${url}/v3/slow`)];
  await counts(2, 0);
  const late = await Promise.all([send(`${url}/v3/slow`), send(`${url}/v3/slow`)]);
  late.forEach(expectOverloaded);
  open();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  expect(started).toBe(2);
});

test('who hangs up while it waits makes room, and is not worked on', async () => {
  const url = await serving(LONG);
  const running = [send(`${url}/v3/slow`), send(`${url}/v3/slow`)];
  await counts(2, 0);
  const leaving = connect(Number(new URL(url).port), '127.0.0.1', () =>
    leaving.write('GET /v3/slow HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  );
  await counts(2, 1);
  leaving.destroy();
  await counts(2, 0);
  open();
  await Promise.all(running);
  await counts(0, 0);
  expect(started).toBe(2);
});
