/** What a log line may hold, whatever is handed to the logger. */
import { readConfig } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';

const SETTINGS = {
  SVC_AUTH_ENABLED: 'false',
  SVC_DATABASE_URL: 'postgresql://svc:p%40ssw0rd@db.internal/x?sslmode=verify-full',
  SVC_CALLBACK_HMAC_SECRET: 'first-"secret",second-secret',
  SVC_PAYLOAD_KEYS: `a:${Buffer.alloc(32, 9).toString('base64')}`,
  SVC_TRACING_OTLP_URL: 'http://collector.internal/v1/traces',
  SVC_TRACING_OTLP_HEADERS: 'api-key=collector%20key',
  SVC_LOG_LEVEL: 'trace',
};
const SECRETS = [
  'p%40ssw0rd',
  'p@ssw0rd',
  'first-"secret"',
  'second-secret',
  Buffer.alloc(32, 9).toString('base64'),
  'collector%20key',
  'collector key',
];

let lines: string[];
function logger() {
  lines = [];
  return createLogger(readConfig(SETTINGS), 'test', { write: (line) => void lines.push(line) });
}
const only = (): Record<string, unknown> => JSON.parse(lines.join('')) as Record<string, unknown>;

test('plain values are written, and every line tells role, process and time', () => {
  logger().info({ request_id: 'r', count: 3, ok: true, nothing: null, names: ['a', 'b'] }, 'said');
  expect(only()).toMatchObject({
    role: 'test',
    pid: process.pid,
    time: expect.stringMatching(/Z$/) as unknown,
    request_id: 'r',
    count: 3,
    ok: true,
    nothing: null,
    names: ['a', 'b'],
    msg: 'said',
  });
});

test('a request, its headers or a row are left out when somebody hands them over whole', () => {
  const headers = { authorization: 'Bearer abc', 'x-svc-signature': 'abc' };
  logger().debug(
    {
      request: { headers, url: '/v3/movements?callback=abc' },
      headers,
      row: { raw_tx: 'abc' },
      list: [headers],
    },
    'whole',
  );
  expect(only()).toMatchObject({
    request: '[left out]',
    headers: '[left out]',
    row: '[left out]',
    list: ['[left out]'],
  });
  expect(lines.join('')).not.toContain('abc');
});

test.each([
  'secret',
  'hmac_secret',
  'password',
  'auth_token',
  'x_svc_signature',
  'privateKey',
  'authorization',
  'raw_tx',
])('a field named %s is never written', (name) => {
  logger().info({ [name]: 'abc' });
  expect(only()[name]).toBe('[redacted]');
});

test('errors are written with code, stack and causes, and without what else clients put into them', () => {
  const cause = Object.assign(new Error('refused'), {
    code: 'ECONNREFUSED',
    config: { headers: { authorization: 'abc' } },
  });
  logger().error({ err: new TypeError('broken', { cause }) }, 'failed');
  expect(only()['err']).toMatchObject({
    name: 'TypeError',
    message: 'broken',
    stack: expect.stringContaining('log.test') as unknown,
    cause: { message: 'refused', code: 'ECONNREFUSED' },
  });
  expect(lines.join('')).not.toContain('abc');
});

test('an error that names its own cause ends', () => {
  const error = new Error('round');
  error.cause = error;
  logger().error({ err: error });
  expect(lines).toHaveLength(1);
});

test('of addresses in errors the host is left, and of signed bytes their length', () => {
  const raw = `0x02f8${'ab'.repeat(120)}`;
  const hash = `0x${'cd'.repeat(32)}`;
  const message = `HTTP failed. URL: https://user:pass-1@rpc.example:8545/v2/key-of-provider?apikey=key-2 Request body: {"params":["${raw}"]} for ${hash}`;
  const log = logger();
  log.warn({ err: new Error(message) });
  log.warn(new Error(message));
  const written = lines.join('');
  for (const hidden of ['pass-1', 'key-of-provider', 'key-2', raw.slice(0, 30)])
    expect(written).not.toContain(hidden);
  expect(written).toContain('https://rpc.example:8545/…');
  expect(written).toContain(hash);
});

test('secrets among the settings are taken out of every line, wherever they stand', () => {
  const log = logger();
  log.info({ a: `x ${SETTINGS.SVC_DATABASE_URL} y` }, SETTINGS.SVC_CALLBACK_HMAC_SECRET);
  log.error(
    { err: new Error(`could not use ${SECRETS.join(' or ')}`) },
    `with ${SETTINGS.SVC_PAYLOAD_KEYS}`,
  );
  log.child({ bound: 'second-secret' }).fatal('child');
  expect(lines).toHaveLength(3);
  for (const secret of SECRETS) {
    expect(lines.join('')).not.toContain(secret);
    expect(lines.join('')).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
  for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
});

test('a long text is cut', () => {
  logger().info({ text: 'x'.repeat(100_000) });
  expect(lines.join('').length).toBeLessThan(9_000);
});
