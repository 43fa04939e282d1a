/** Which host names are ours: the configured ones, the address of the connection, and loopback. */
import { createHostCheck } from '../../../api/http/host.ts';
import { createOps } from '../../../api/operations/listener.ts';
import { movementRoutes } from '../../../api/movements/routes.ts';
import { sendRaw, serve, serveApi } from '../support.ts';

const check = (names: readonly string[], host: string | undefined, localAddress?: string) => () =>
  createHostCheck(names)({
    headers: host === undefined ? {} : { host },
    socket: { localAddress },
  } as Parameters<ReturnType<typeof createHostCheck>>[0]);

test('configured names count, with any port and in any case', () => {
  for (const host of ['Metrics.internal', 'metrics.internal:9465', '[FD00::1]:1', '10.1.2.3'])
    expect(check(['metrics.INTERNAL', 'fd00::1', '10.1.2.3'], host)).not.toThrow();
  for (const host of [
    'other.internal',
    'x.metrics.internal',
    'metrics.internal:',
    '',
    'metrics.internal:1:2',
    'metrics.internal@evil',
    '*',
  ])
    expect(check(['metrics.internal'], host)).toThrow(/SVC_ALLOWED_HOSTS_CSV/);
});

test('the address that was connected to counts, and no other', () => {
  expect(check([], '10.1.2.3:9465', '10.1.2.3')).not.toThrow();
  expect(check([], '10.1.2.3:9465', '::ffff:10.1.2.3')).not.toThrow();
  expect(check([], '10.1.2.4:9465', '10.1.2.3')).toThrow();
});

test('a request of HTTP/1.0 without a name is no browser’s', () => {
  expect(check([], undefined)).not.toThrow();
});

test('without authentication the whole API but /healthz requires a host name of ours', async () => {
  const open = await serveApi(movementRoutes);
  const ops = await serve(
    createOps({
      checks: {},
      openapi: {},
      signing: '',
      checkHost: createHostCheck(['ops.internal']),
    }),
  );
  const status = async (port: number, path: string, host: string) =>
    Number(
      (
        await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      ).split(' ')[1],
    );
  expect(await status(open.port, '/v3/movements?limit=0', 'evil.example')).toBe(403);
  expect(await status(open.port, '/v3/movements?limit=0', 'localhost:1')).toBe(422);
  expect(await status(open.port, '/healthz', 'evil.example')).toBe(200);
  expect(await status(ops.port, '/metrics', 'ops.internal')).toBe(200);
  expect(await status(ops.port, '/metrics', 'evil.example')).toBe(403);
  await Promise.all([open.close(), ops.close()]);
});
