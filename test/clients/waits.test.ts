/** Waits: what they see, what they bear, and how they end. */
import {
  ApiError,
  createClient,
  OPERATIONS,
  UnreachableError,
  WaitEndedError,
  WaitTimeoutError,
  type Operation,
} from '../../clients/http/index.ts';
import { answer, hang, lose, refuse, startFlakyServer } from './flaky-server.ts';
import { started } from '../support/started.ts';

const server = started(() => startFlakyServer());

const client = () =>
  createClient({
    baseUrl: server.url,
    key: { keyId: 'k', secret: 's' },
    prefix: '/v3',
    retries: 0,
  });
const is = (request_state: string, error_code: string | null = null) =>
  answer(200, { movement_id: 'm', request_state, error_code });

test('a service that refuses for a while, or is gone, is polled on; each change is reported once', async () => {
  server.script(
    is('APPROVED'),
    is('APPROVED'),
    answer(429, { detail: 'rate limit exceeded' }, { 'retry-after': '0' }),
    lose,
    refuse(503, 'dependency_unavailable'),
    is('EXECUTING'),
    is('COMPLETED'),
  );
  const reported: string[] = [];
  const done = await client().waitFor('m', ['COMPLETED', 'CANCELLED'], {
    onChange: ({ request_state }) => reported.push(request_state),
  });
  expect(done.request_state).toBe('COMPLETED');
  expect(reported).toEqual(['APPROVED', 'EXECUTING', 'COMPLETED']);
  expect(server.seen).toHaveLength(7);
});

test('one that never answered is not waited for, nor is a refusal', async () => {
  server.script(lose);
  await expect(client().waitFor('m', 'COMPLETED')).rejects.toThrow(UnreachableError);
  server.script(is('APPROVED'), refuse(404, 'movement_not_found'));
  await expect(client().waitFor('m', 'COMPLETED')).rejects.toThrow(ApiError);
});

test('another end is an error with its state and code; a target state is not', async () => {
  server.script(is('EXECUTING'), is('FAILED', 'VENUE_REJECTED'));
  const ended = client().waitFor('m', 'COMPLETED');
  await expect(ended).rejects.toThrow(WaitEndedError);
  await expect(ended).rejects.toMatchObject({ state: 'FAILED', errorCode: 'VENUE_REJECTED' });
  server.script(is('EXECUTING'), is('FAILED'));
  const seen = await client().waitFor('m', ({ request_state }) => request_state === 'FAILED');
  expect(seen.request_state).toBe('FAILED');
});

test('a transfer too ends where it ends', async () => {
  server.script(is('SUBMITTING'), is('COMPLETED'));
  expect(await client().waitForTransfer('t', 'COMPLETED')).toMatchObject({ movement_id: 'm' });
  server.script(is('FAILED'));
  await expect(client().waitForTransfer('t', 'COMPLETED')).rejects.toThrow('Transfer t ended');
});

test('time and signal end it', async () => {
  server.script(is('EXECUTING'));
  const late = client().waitFor('m', 'COMPLETED', { timeoutMs: 50 });
  await expect(late).rejects.toThrow(WaitTimeoutError);
  await expect(late).rejects.toMatchObject({ state: 'EXECUTING' });
  const signal = AbortSignal.timeout(50);
  const stopped = client().waitFor('m', 'COMPLETED', { signal });
  await expect(stopped).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a look that gets no answer does not go on long after the time', async () => {
  server.script(is('EXECUTING'), hang);
  const asking = createClient({
    baseUrl: server.url,
    key: { keyId: 'k', secret: 's' },
    prefix: '/v3',
    timeoutMs: 400,
  });
  const startedAt = Date.now();
  const late = asking.waitFor('m', 'COMPLETED', { timeoutMs: 600 });
  await expect(late).rejects.toMatchObject({ name: 'WaitTimeoutError', state: 'EXECUTING' });
  // Five tries of 400 ms, with waits between, would have taken longer than that.
  expect(Date.now() - startedAt).toBeLessThan(5_000);
});

test('every operation has a name for people', async () => {
  server.script(refuse(404, 'route_not_found'));
  const operations: Readonly<Record<string, Operation>> = OPERATIONS;
  const { movements, ...all } = client();
  const groups: Readonly<Record<string, unknown>> = { ...all, movements };
  const requests = new Set<string>();
  for (const group of Object.values(groups).filter((each) => typeof each === 'object'))
    for (const method of Object.values(group as Record<string, (...ids: string[]) => unknown>)) {
      const called = method('p', 'p', 'p', 'p');
      const rows = called as Partial<AsyncIterable<unknown>>;
      const work = rows[Symbol.asyncIterator]?.().next() ?? (called as Promise<unknown>);
      await expect(work).rejects.toThrow(ApiError);
    }
  await expect(all.whoami()).rejects.toThrow(ApiError);
  await expect(all.search('p')).rejects.toThrow(ApiError);
  const form = (path: string) => path.replace(/\{[^}]+\}/g, 'p');
  for (const { method, target } of server.seen) requests.add(`${method} ${target.split('?')[0]}`);
  const missing = Object.entries(operations).filter(
    ([, { method, path }]) => !requests.has(`${method} /v3${form(path)}`),
  );
  expect(missing.map(([id]) => id)).toEqual([]);
});
