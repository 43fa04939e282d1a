/**
 * docs/deploy.md as it is printed, from the build to a movement that completes: production's
 * files and packages alone, beside a Postgres, a Temporal and a paper venue that are there already.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../dev/bootstrap/temporal-build.mjs';
import { freePort } from '../../dev/stack/ports.ts';
import { ANY_FREE_PORTS, startStack, type Stack } from '../../dev/stack/stack.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import { openTerminals, shellBlocks } from '../support/guide.ts';

const find = (name: string): string | null =>
  findOnPath(name) ?? findOnPath(name, { PATH: '/usr/sbin:/sbin' });
const missing = ['psql', 'haproxy', 'openssl', 'curl'].filter((name) => find(name) === null);
const here = missing.length === 0 ? test : test.skip;

const data = mkdtempSync(join(tmpdir(), 'deploy-'));
let stack: Stack;
beforeAll(async () => {
  if (missing.length > 0) return;
  const settings = { dataDir: join(data, 'stack'), ports: ANY_FREE_PORTS };
  stack = await startStack({ settings, service: false, durable: false, log: () => undefined });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  rmSync(data, { recursive: true, force: true });
});

here(
  `the deployment guide leads to a movement that completes${missing.length > 0 ? ` (skipped: no ${missing.join(', ')})` : ''}`,
  async () => {
    const { username, password, port } = new URL(stack.databaseUrl);
    const folder = (name: string): string => {
      mkdirSync(join(data, name), { recursive: true });
      return join(data, name);
    };
    const { terminals, close } = openTerminals({
      FUND_APP: join(data, 'app'),
      FUND_SECRETS: join(data, 'secrets'),
      FUND_CONFIG: folder('config'),
      PGHOST: '127.0.0.1',
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      DATABASE_TLS: '',
      TEMPORAL: stack.temporalAddress,
      PAPER_URL: stack.paperVenueUrl,
      PATH: `${process.env['PATH'] ?? ''}:/usr/sbin`,
    });
    try {
      await createNamespace(stack.temporalAddress);
      const printed = await terminals.follow(await adapted(shellBlocks('docs/deploy.md')));
      expect(printed).toMatch(/"applied": ?\[/);
      expect(printed).toMatch(/role +operator/);
      expect(printed).toMatch(/COMPLETED/);
    } finally {
      for (const pid of pidsIn(join(data, 'config'))) end(pid);
      await close();
    }
  },
  300_000,
);

/** What the page's own line would do; the program need not be on PATH here. */
async function createNamespace(address: string): Promise<void> {
  const server = await findTemporalServer(process.env, () => undefined);
  if (server.kind !== 'binary') throw new Error('the namespace is made with a `temporal` program');
  const args = ['operator', 'namespace', 'create', '--namespace', 'fund-movements'];
  execFileSync(server.path, [...args, '--retention', '90d', '--address', address]);
}

/** The page's ports may be somebody's here, and its database is that of the stack. */
async function adapted(blocks: readonly string[]): Promise<string[]> {
  const ports = new Map<string, string>();
  for (const port of ['8100', '8101', '8102', '9471', '9472', '9481', '9482'])
    ports.set(port, String(await freePort([...ports.values()].map(Number))));
  // This Temporal has no TLS; `npm run deploy:follow` follows the page with it.
  const here = blocks.filter((block) => !block.includes('SVC_TEMPORAL_TLS'));
  return here.map((block) =>
    block
      .replace(/\b(8100|8101|8102|9471|9472|9481|9482)\b/g, (port) => ports.get(port) ?? port)
      .replaceAll('fund_movements', 'fund_deployed'),
  );
}

function pidsIn(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.pid'))
    .map((name) => Number(readFileSync(join(folder, name), 'utf8')));
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // gone already
  }
}
