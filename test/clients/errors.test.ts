/** Every answer that is no success comes out as an error of its code. */
import { toAnswer } from '../../api/http/errors.ts';
import { ApiError, createClient } from '../../clients/http/index.ts';
import { ERROR_TABLE, ServiceError, type ErrorCode } from '../../domain/errors.ts';
import { answer, startFlakyServer } from './flaky-server.ts';
import { started } from '../support/started.ts';

const server = started(() => startFlakyServer());

const failure = async (): Promise<ApiError> => {
  const client = createClient({
    baseUrl: server.url,
    key: { keyId: 'k', secret: 's' },
    prefix: '/v3',
    retries: 0,
  });
  const error: unknown = await client.whoami().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw error;
};

test.each(Object.keys(ERROR_TABLE) as ErrorCode[])('%s', async (code) => {
  const context = { movement_id: 'm', issues: [{ path: 'a', code: 'b', message: 'c' }] };
  const { status, body } = toAnswer(new ServiceError(code, { context }), 'r-1');
  server.script(answer(status, body, { 'x-request-id': 'r-1', 'retry-after': '7' }));
  const error = await failure();
  const plain = code === 'rate_limited' || code === 'internal_error';
  expect(error).toMatchObject({
    code,
    rawCode: code,
    status: ERROR_TABLE[code].status,
    requestId: 'r-1',
    message: ERROR_TABLE[code].message,
    retryAfterSeconds: 7,
    issues: plain ? [] : context.issues,
  });
  if (!plain) expect(error.context).toEqual({ movement_id: 'm' });
});

test('a code that is newer than the client is kept as it was answered', async () => {
  server.script(answer(409, { detail: { error: 'from_next_year', message: 'Later.' } }));
  expect(await failure()).toMatchObject({ code: null, rawCode: 'from_next_year', status: 409 });
});

test.each([
  ['a page of a proxy', 502, '<html>'],
  ['a success that is no JSON', 200, '<html>'],
  ['an error without detail', 400, '{}'],
  ['a redirection', 302, ''],
])('%s is no answer of the service', async (_, status, text) => {
  server.script((response) => response.writeHead(status, { location: '/elsewhere' }).end(text));
  const error = await failure();
  expect(error).toMatchObject({ code: null, rawCode: null, status });
  expect(error.message).toContain('proxy');
  expect(server.seen).toHaveLength(1);
});
