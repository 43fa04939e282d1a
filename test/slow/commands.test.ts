/** `npm start` as people and machines end it, and what the next start makes of that. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createPublicClient, formatUnits, http, parseAbi } from 'viem';
import { readChainInfo } from '../../dev/stack/chain.ts';
import { readDevKeys } from '../../dev/stack/keys.ts';
import { readBridges } from '../../dev/stack/known-bridges.ts';
import { PORT_SETTINGS, ROOT } from '../../dev/stack/ports.ts';
import type { StackRecord } from '../../dev/stack/supervise/record.ts';
import { assertConsistent, PAID_ONCE, timesPaid } from '../support/evidence.ts';
import {
  eventually,
  MovementApi,
  Stop,
  WITHDRAW_TO_TREASURY,
  type Created,
} from '../support/own-stack.ts';

const folders: string[] = [];
const started: ChildProcess[] = [];

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'start-'));
  folders.push(path);
  return path;
}

afterAll(() => {
  // Only what a failed test may have left: processes whose environment or arguments name our
  // folders.
  for (const path of folders) {
    for (const pid of processesOf(path)) process.kill(pid, 'SIGKILL');
    rmSync(path, { recursive: true, force: true });
  }
});

interface Started {
  readonly child: ChildProcess;
  readonly dataDir: string;
  output(): string;
  /** Resolves with the exit status once everything was written. */
  readonly ended: Promise<number | null>;
}

function start(
  dataDir: string,
  env: Record<string, string> = {},
  ...options: readonly string[]
): Started {
  const anyPorts = Object.fromEntries(
    Object.values(PORT_SETTINGS).map(({ setting }) => [setting, '0']),
  );
  const child = spawn(process.execPath, ['dev/run.mjs', 'start', ...options], {
    cwd: ROOT,
    detached: true,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      ...anyPorts,
      SVC_SWEEP_IDLE_SECONDS: '1',
      SVC_RATE_LIMIT_ENABLED: 'false',
      SVC_DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, dataDir, output: () => text, ended };
}

/** Runs a command of the stack of that folder to its end; rejects where its status is not 0. */
function command(
  dataDir: string,
  ...args: string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const env = { ...process.env, NODE_OPTIONS: '', SVC_DATA_DIR: dataDir };
  return promisify(execFile)(process.execPath, ['dev/run.mjs', ...args], { cwd: ROOT, env });
}

interface Running extends Started {
  readonly record: StackRecord;
  readonly api: MovementApi;
}

/** Waits until the command says that the service runs. */
async function running(started: Started): Promise<Running> {
  const record = await eventually(
    async () => {
      if (started.child.exitCode !== null) throw new Stop(`npm start ended:\n${started.output()}`);
      if (!started.output().includes('The service runs.')) return null;
      return JSON.parse(readFileSync(join(started.dataDir, 'stack.json'), 'utf8')) as StackRecord;
    },
    { timeoutMs: 90_000, what: () => `npm start:\n${started.output()}` },
  );
  return {
    ...started,
    record,
    api: new MovementApi(record.urls?.apiUrl ?? '', readDevKeys(started.dataDir).admin),
  };
}

/** Processes whose arguments or environment name the folder. */
function processesOf(dataDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) =>
      ['cmdline', 'environ'].some((file) => readOrEmpty(`/proc/${pid}/${file}`).includes(dataDir)),
    )
    .filter((pid) => !/^\d+ \(.*\) [ZX]/s.test(readOrEmpty(`/proc/${pid}/stat`)))
    .map(Number);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function portsOf({ urls }: StackRecord): number[] {
  const { apiUrl, opsUrl, uiUrl, temporalAddress, databaseUrl, chainUrl, paperVenueUrl } = urls!;
  const all = [
    apiUrl,
    opsUrl,
    uiUrl ?? '',
    `http://${temporalAddress}`,
    databaseUrl,
    chainUrl,
    paperVenueUrl,
  ];
  return all.filter((url) => url !== '').map((url) => Number(new URL(url).port));
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function expectNothingLeft({ record, dataDir }: Running): Promise<void> {
  expect(processesOf(dataDir)).toEqual([]);
  const open = await Promise.all(
    portsOf(record).map(async (port) => ((await isOpen(port)) ? [port] : [])),
  );
  expect(open.flat()).toEqual([]);
  expect(readdirSync(dataDir)).not.toContain('stack.json');
}

/**
 * A movement whose withdrawal is on its way and cannot arrive before the chain is started again.
 */
async function inFlight({ api, record }: Running, amount: string): Promise<Created> {
  await fetch(`${record.urls!.chainUrl}/faults`, {
    method: 'POST',
    body: JSON.stringify({ mining: 'paused' }),
  });
  const movement = await api.create(WITHDRAW_TO_TREASURY, { amount });
  await api.approve(movement);
  await api.nodeReaches(movement.movement_id, 'withdraw', ['OBSERVING']);
  return movement;
}

async function expectPaidOnce(
  { api, record, dataDir }: Running,
  { movement_id }: Created,
  amount: string,
): Promise<void> {
  const ended = await api.reaches(movement_id, 'COMPLETED');
  assertConsistent(ended, await api.timeline(movement_id));
  const stack = { chain: readChainInfo(dataDir), paperVenueUrl: record.urls!.paperVenueUrl };
  expect(await timesPaid(stack, movement_id, amount)).toEqual(PAID_ONCE);
}

describe('npm start', () => {
  const dataDir = folder();
  let flying: Created;

  test('stopped by Ctrl-C leaves no process and no port behind', async () => {
    const service = await running(start(dataDir));
    expect(service.record.children.length).toBeGreaterThanOrEqual(5);
    expect(await Promise.all(portsOf(service.record).map(isOpen))).not.toContain(false);
    flying = await inFlight(service, '30.01');
    process.kill(service.child.pid!, 'SIGINT');
    expect(await service.ended).toBe(0);
    await expectNothingLeft(service);
  }, 120_000);

  test('goes on with what was in flight, and after a kill -9 of everything so does the next', async () => {
    const second = await running(start(dataDir));
    await expectPaidOnce(second, flying, '30.01');
    flying = await inFlight(second, '30.02');
    const everything = processesOf(dataDir);
    expect(everything.length).toBeGreaterThan(second.record.children.length);
    for (const pid of everything) process.kill(pid, 'SIGKILL');
    await second.ended;
    await eventually(async () => (processesOf(dataDir).length === 0 ? true : null), {
      what: () => 'the killed processes to go',
    });
    expect(readdirSync(dataDir)).toContain('stack.json');

    const third = await running(start(dataDir));
    await expectPaidOnce(third, flying, '30.02');
    flying = await inFlight(third, '30.03');
    // Now only the command and its reaper die: Postgres and Temporal live on and must be ended by
    // the next start.
    const parts = new Set(third.record.children.map(({ pid }) => pid));
    const own = processesOf(dataDir).filter(
      (pid) => !parts.has(pid) && /run\.mjs|reaper\.mjs/.test(readOrEmpty(`/proc/${pid}/cmdline`)),
    );
    expect(own.length).toBeGreaterThanOrEqual(2);
    for (const pid of own) process.kill(pid, 'SIGKILL');
    await third.ended;
    const temporal = third.record.children.find(({ name }) => name === 'temporal')!;
    expect(processesOf(dataDir)).toContain(temporal.pid);
  }, 180_000);

  test('ends the orphans of a killed one, and stopped by SIGTERM leaves nothing behind either', async () => {
    const fourth = await running(start(dataDir));
    expect(fourth.output()).toMatch(/ended what an earlier run left behind: .*(postgres|temporal)/);
    await expectPaidOnce(fourth, flying, '30.03');
    process.kill(fourth.child.pid!, 'SIGTERM');
    expect(await fourth.ended).toBe(0);
    await expectNothingLeft(fourth);
  }, 120_000);
});

test("what somebody declares is taken up beside the stack's own, and fundadmin finds the stack", async () => {
  const [dataDir, declared] = [folder(), folder()];
  const bank = {
    executor_key: 'desk.bank',
    kind: 'remote',
    url: 'http://127.0.0.1:9',
    action_types: ['bank_payment'],
    payees: [],
  };
  writeFileSync(join(declared, 'bank.token'), 'a token');
  writeFileSync(
    join(declared, 'registry.json'),
    JSON.stringify({ executors: [{ ...bank, auth_token_file: 'bank.token' }] }),
  );
  const venue = {
    venue_key: 'paper-desk',
    provider: 'paper',
    account_role: 'sub',
    account: 'paper-sub-a',
    url: 'http://127.0.0.1:9',
  };
  writeFileSync(join(declared, 'venues.json'), JSON.stringify({ venues: [venue] }));
  const files = {
    SVC_REGISTRY_FILE: join(declared, 'registry.json'),
    SVC_VENUES_FILE: join(declared, 'venues.json'),
  };
  const service = await running(start(dataDir, files));
  expect(service.output()).toContain(`added 1 executor of ${files.SVC_REGISTRY_FILE}: desk.bank`);
  expect(service.output()).toContain(`added 1 venue of ${files.SVC_VENUES_FILE}: paper-desk`);
  const executors = (await service.api.expect(200, 'GET', '/executors')) as unknown as readonly {
    readonly executor_key: string;
  }[];
  expect(executors.map(({ executor_key }) => executor_key)).toEqual(
    expect.arrayContaining(['desk.bank', 'paper.withdrawal']),
  );

  const run = (...args: string[]) => command(dataDir, 'fundadmin', ...args);
  const listed = await run('keys', 'list');
  expect(listed.stdout).toContain(readDevKeys(dataDir).operator.keyId);
  expect(listed.stderr).toContain('Using the stack that runs in');
  // Rows that it writes are vouched for with the stack's own key.
  await run('allowlist', 'add', '--family', 'cex', '--address', 'alice', '--reason', 'a test');
  const verified = await run('audit', 'verify');
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });

  process.kill(service.child.pid!, 'SIGINT');
  expect(await service.ended).toBe(0);
  await expect(run('keys', 'list')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('SVC_DATABASE_URL'),
  });
}, 120_000);

describe('npm run demo -- --bridges', () => {
  const dataDir = folder();
  const USDB = parseAbi(['function balanceOf(address) view returns (uint256)']);

  /** What the treasury holds on the far chain, as that chain says it. */
  async function arrived(): Promise<string> {
    const { far, assets } = readBridges(dataDir);
    const units = await createPublicClient({ transport: http(far.rpcUrl) }).readContract({
      address: far.contracts.burnToken,
      abi: USDB,
      functionName: 'balanceOf',
      args: [readChainInfo(dataDir).accounts.treasury.address],
    });
    return formatUnits(units, assets.burn.decimals);
  }

  /** Runs it; what it says at its end. */
  async function demo() {
    const { stdout } = await command(dataDir, 'demo', '--bridges');
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
      readonly request_state: string;
      readonly balances: Readonly<Record<'before' | 'after', Readonly<Record<string, string>>>>;
    };
  }

  test('wants a stack with bridges, and does not change the one that runs', async () => {
    const bare = await running(start(dataDir));
    await expect(command(dataDir, 'demo', '--bridges')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm start -- --bridges'),
    });
    process.kill(bare.child.pid!, 'SIGINT');
    expect(await bare.ended).toBe(0);
  }, 120_000);

  test('brings funds to the far chain, which the stack keeps from then on', async () => {
    const first = await running(start(dataDir, {}, '--bridges'));
    expect(first.output()).toContain('starter/bridge-to-far-chain');
    const shown = await demo();
    expect(shown).toMatchObject({
      request_state: 'COMPLETED',
      balances: {
        before: { 'wallet (near chain)': '1000000', 'treasury (far chain)': '0' },
        // One in ten thousand is the price of a fast burn.
        after: { 'wallet (near chain)': '999975', 'treasury (far chain)': '24.9975' },
      },
    });
    expect(await arrived()).toBe('24.9975');
    // Whoever asks for a way finds it, with what it takes at most.
    const { recommendations } = await first.api.expect(200, 'POST', '/routes/recommend', {
      asset: 'USDB',
      amount: '25',
    });
    const over = (recommendations as readonly { readonly route: Record<string, unknown> }[]).find(
      ({ route }) => route['template_key'] === 'starter/bridge-to-far-chain',
    );
    expect(over).toMatchObject({
      feasibility: 'feasible',
      score_parts: { cost: { fee: '0.5' } },
      route: { stats: { total_completed: 1 }, bridge: { legs: [{ usable: true }] } },
    });
    process.kill(first.child.pid!, 'SIGINT');
    expect(await first.ended).toBe(0);
    await expectNothingLeft(first);

    const second = await running(start(dataDir));
    expect(await arrived()).toBe('24.9975');
    expect((await demo()).balances.after['treasury (far chain)']).toBe('49.995');
    expect(await arrived()).toBe('49.995');
    process.kill(second.child.pid!, 'SIGINT');
    expect(await second.ended).toBe(0);
  }, 240_000);
});

test.each(['start', 'demo'])(
  'npm run %s tells how it is used, and starts nothing that it does not understand',
  async (name) => {
    const dataDir = folder();
    const run = (...args: string[]) => command(dataDir, name, ...args);
    expect((await run('--help')).stdout).toMatch(
      /^Usage: npm (start \[-- --bridges\] \[--perp\]|run demo \[-- --bridges\|--storm\])\n[^]*SVC_POSTGRES_PORT[^]*SVC_DATA_DIR/m,
    );
    await expect(run('--prot', '1')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--prot[^]*Usage: npm/),
    });
    expect(readdirSync(dataDir)).not.toContain('postgres');
  },
  60_000,
);

test.each(['api', 'postgres', 'temporal', 'chain', 'paperVenue'] as const)(
  'a busy port of %s is an error that names port and setting',
  async (name) => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const address = squatter.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const { setting } = PORT_SETTINGS[name];
      const dataDir = folder();
      const started = start(dataDir, { [setting]: String(port) });
      expect(await started.ended).toBe(1);
      expect(started.output()).toContain(`Port ${port} `);
      expect(started.output()).toContain(setting);
      expect(processesOf(dataDir)).toEqual([]);
    } finally {
      squatter.close();
    }
  },
  60_000,
);
