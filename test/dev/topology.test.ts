/** What the parts of the topology are started with. That they work, `npm run topology` shows. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import { Network } from '../../dev/topology/network.ts';
import { poolerConfig } from '../../dev/topology/pooler.ts';
import { topologyPorts } from '../../dev/topology/ports.ts';
import { proxyConfig } from '../../dev/topology/proxy.ts';

test('each listener has a port of its own, counted up from the base', () => {
  const ports = Object.values(topologyPorts(20_000));
  expect([...ports].sort((a, b) => a - b)).toEqual(ports.map((_, index) => 20_000 + index));
  for (const base of [80, 65_530, 18_000.5, Number.NaN])
    expect(() => topologyPorts(base)).toThrow(/must be a whole number from 1024/);
});

test('haproxy has the shipped settings, save for where it listens and leads to', () => {
  const shipped = readFileSync(join(ROOT, 'deploy/compose/haproxy.cfg'), 'utf8').split('\n');
  const behind = [
    { apiPort: 1, opsPort: 2 },
    { apiPort: 3, opsPort: 4 },
  ];
  const config = proxyConfig(5, behind).split('\n');
  expect(config.filter((line) => !shipped.includes(line))).toEqual([
    '  bind 127.0.0.1:5',
    '  default-server inter 1s fastinter 500ms fall 2 rise 1',
    '  server api1 127.0.0.1:1 check port 2',
    '  server api2 127.0.0.1:3 check port 4',
  ]);
  expect(shipped.filter((line) => !config.includes(line)).map((line) => line.trim())).toEqual([
    'log stdout format raw local0',
    'log global',
    'option httplog',
    'resolvers containers',
    'nameserver engine 127.0.0.11:53',
    'hold valid 2s',
    'bind :8100',
    'default-server check port 9465 inter 1s fastinter 500ms fall 2 rise 1 resolvers containers init-addr none',
    'server-template api 1-8 api:8100',
  ]);
});

test('pgbouncer leads to the database of the URL, with a session for each transaction', () => {
  const databaseUrl = 'postgresql://role:password@127.0.0.1:6/fund';
  const lines = poolerConfig({ folder: '/pool', port: 7, databaseUrl }).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '* = host=127.0.0.1 port=6',
      'listen_addr = 127.0.0.1',
      'listen_port = 7',
      'pool_mode = transaction',
      'auth_file = /pool/users.txt',
    ]),
  );
});

test('a restarted toxiproxy gets its proxies and their faults again', async () => {
  const toxiproxy = await startFake();
  try {
    // toxiproxy's port is one of those that are counted up from the base.
    const base = toxiproxy.port - (topologyPorts(20_000).toxiproxy - 20_000);
    const ports = topologyPorts(base);
    const network = new Network({ program: 'unused', folder: '/', logDir: '/', ports });
    await network.slow('fund-vip', 5, 1);
    await network.cut('venue');
    await network.lose('chain', 0.1);
    await network.heal('chain');
    await network.pointTo('fund-vip', ports.fundB);
    const before = toxiproxy.toxics();
    expect(before).toEqual([
      'fund-vip latency downstream {"latency":5,"jitter":1}',
      'venue timeout downstream {"timeout":0}',
      'venue timeout upstream {"timeout":0}',
    ]);

    toxiproxy.forget();
    expect(await network.part().isReady(() => '')).toBe(true);
    expect(toxiproxy.toxics()).toEqual(before);
    const settings: unknown = JSON.parse(network.settings());
    expect(settings).toContainEqual({
      name: 'fund-vip',
      listen: `127.0.0.1:${String(ports.fundVip)}`,
      upstream: `127.0.0.1:${String(ports.fundB)}`,
      enabled: true,
    });
  } finally {
    toxiproxy.close();
  }
});

/** Takes toxiproxy's calls and keeps the toxics; each name is a proxy that it has. */
async function startFake() {
  const toxics = new Map<string, string>();
  const server = createServer((request, response) => {
    const [, , proxy = '', , toxic = ''] = (request.url ?? '').split('/');
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      if (request.method === 'DELETE')
        return response.writeHead(toxics.delete(`${proxy} ${toxic}`) ? 204 : 404).end();
      if (request.url?.endsWith('/toxics') === true) {
        const { name, type, stream, attributes } = JSON.parse(text) as Record<string, unknown>;
        const key = `${proxy} ${String(name)}`;
        if (toxics.has(key)) return response.writeHead(409).end();
        const what = [proxy, type, stream, JSON.stringify(attributes)];
        toxics.set(key, what.join(' '));
      }
      return response.writeHead(200).end('{}');
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    toxics: () => [...toxics.values()].sort(),
    forget: () => toxics.clear(),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
