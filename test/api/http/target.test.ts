import { ServiceError } from '../../../domain/errors.ts';
import { createOps } from '../../../api/operations/listener.ts';
import { parseTarget } from '../../../api/http/target.ts';
import { sendRaw, serve, serveApi, type Served } from '../support.ts';

describe('parseTarget', () => {
  it.each([
    ['/v3/movements', '/v3/movements', ''],
    ['/v3/movements?state=A&x=%2F%25', '/v3/movements', 'state=A&x=%2F%25'],
    ['/v3/a%20b', '/v3/a b', ''],
    ['/v3/%C3%A4', '/v3/ä', ''],
    ['/v3/%41', '/v3/A', ''],
    ['/v3/x?', '/v3/x', ''],
    ['/v3/x?a?b//..', '/v3/x', 'a?b//..'],
    ['/v3/...', '/v3/...', ''],
  ])('reads %s', (target, path, query) => {
    expect(parseTarget(target)).toEqual({ path, query });
  });

  it.each([
    'http://other/v3/movements',
    '*',
    '',
    '/v3//movements',
    '//v3',
    '/v3/./x',
    '/v3/../x',
    '/v3/%2e%2e/x',
    '/v3/.%2E',
    '/v3/a%2Fb',
    '/v3/a%2fb',
    '/v3/a%5Cb',
    '/v3/a%25b',
    '/v3/a\\b',
    '/v3/a#b',
    '/v3/a?b#c',
    '/v3/a%00',
    '/v3/a%0a',
    '/v3/a%7f',
    '/v3/a%C2%85',
    '/v3/%FF',
    '/v3/%C0%AF',
    '/v3/%zz',
    '/v3/%',
    '/v3/a b',
    '/v3/\u00e4',
    '/v3/a\u0001',
  ])('refuses %j', (target) => {
    expect(() => parseTarget(target)).toThrow(ServiceError);
  });
});

const FOREIGN = ['http://evil/healthz', 'http://[::1/', 'http://a:b/', '*'];
const MALFORMED = ['/v3/a%2Fb', '/v3//a', '/v3/../healthz', '/v3/a\\b', '/healthz#x', '/v3/%FF'];

describe.each([
  ['the API', () => serveApi([]), [...FOREIGN, ...MALFORMED]],
  [
    'the operations listener',
    () => serve(createOps({ checks: {}, openapi: {}, signing: '' })),
    FOREIGN,
  ],
])('targets over HTTP: %s', (_name, start, targets) => {
  let served: Served;
  beforeAll(async () => {
    served = await start();
  });
  afterAll(() => served.close());

  it.each(targets)('answers 400 for %s', async (target) => {
    const answer = await sendRaw(
      served.port,
      `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"error":"invalid_path"');
    expect(answer).toMatch(/x-request-id: \S+/i);
  });

  it('answers what is not HTTP with JSON and a request id', async () => {
    const answer = await sendRaw(served.port, 'nonsense\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toMatch(/x-request-id: \S+/i);
    expect(answer).toContain('"detail"');
  });

  it('answers headers that are too large with 431', async () => {
    const answer = await sendRaw(
      served.port,
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
  });
});
