/**
 * An exchange in a process of its own: API and worker start with no key of it, and what they move
 * through that process is moved once, whichever of them dies.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../dev/stack/ports.ts';
import { fundadmin } from '../../tools/command-line.ts';
import { assertConsistent } from '../support/evidence.ts';
import { startExecutorProcess, type ExecutorProcess } from '../support/executor-process.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { ADDRESS, freshBooks, openDesk, SUB, type Desk } from '../venues/cex/support/desk.ts';
import { madeWithdrawal } from '../venues/cex/support/made.ts';

const TOKEN = 'a-token-between-two-processes';
const HOUR = 3_600_000;

let desk: Desk;
let own: OwnStack;
let folder: string;
let port: number;
let executor: ExecutorProcess;
/** What all processes with the keys have written. */
let written = '';

async function startExecutor(venues = 'venues.json'): Promise<void> {
  const files = ['--venues-file', join(desk.folder, venues)];
  const token = ['--token-file', join(desk.folder, 'process.token')];
  executor = await startExecutorProcess([
    ...['--venue', 'cex-main', '--port', String(port)],
    ...[...files, ...token],
  ]);
  void executor.ended.then(() => (written += executor.text()));
}

beforeAll(async () => {
  desk = await openDesk();
  freshBooks(desk);
  folder = mkdtempSync(join(tmpdir(), 'keys-apart-'));
  port = await freePort([]);
  const common = { provider: 'ccxt', exchange: 'binance', fetch_interval_seconds: 1 };
  const master = { venue_key: 'cex-main', account_role: 'master', account: 'master@example.com' };
  const sub = { venue_key: 'cex-sub', account_role: 'sub', account: SUB, master: 'cex-main' };
  const at = { base_url: desk.exchange.url };
  const file = (path: string, entry: object, more: object = {}, others: object[] = []): void => {
    const venues = [
      { ...common, ...more, ...master, ...entry },
      { ...common, ...more, ...sub },
      ...others,
    ];
    writeFileSync(path, JSON.stringify({ venues }));
  };
  // The process of another key serves it: its key file does not exist here.
  const other = {
    ...{ ...common, ...at, venue_key: 'other-main', account_role: 'master' },
    ...{ account: 'other@example.com', credentials_file: 'other.json' },
  };
  file(join(desk.folder, 'venues.json'), { credentials_file: 'main.json' }, at, [other]);
  writeFileSync(join(desk.folder, 'process.token'), TOKEN, { mode: 0o600 });
  const served_at = { url: `http://127.0.0.1:${String(port)}`, auth_token_file: 'cex.token' };
  file(join(folder, 'venues.json'), { served_at });
  writeFileSync(join(folder, 'cex.token'), TOKEN, { mode: 0o600 });
  await startExecutor();
  const env = { SVC_VENUES_FILE: join(folder, 'venues.json'), SVC_LOG_LEVEL: 'debug' };
  own = await startOwnStack({ env, split: true, allow: [ADDRESS] });
  const config = { venue: 'cex-main', asset: 'USDC', network: 'ETH' };
  await own.api.expect(201, 'POST', '/plan-templates', {
    ...{ template_key: 'test/exchange-out', version: 1, name: 'Out of an exchange', edges: [] },
    completion_policy: { completion_assurance: 'provider_completed' },
    nodes: [
      {
        node_key: 'out',
        node_kind: 'action',
        action_type: 'cex_withdrawal',
        has_side_effect: true,
        executor_selector: { action_type: 'cex_withdrawal', provider: 'ccxt' },
        config: { ...config, destination_address: ADDRESS },
        retry_policy: { max_attempts: 20, initial_interval_seconds: 0.5 },
      },
    ],
  });
}, 240_000);
afterAll(async () => {
  await own?.close();
  executor?.kill('SIGKILL');
  await desk?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

const books = () => desk.exchange.books;
const sends = (path: string): number =>
  desk.exchange.requests.filter((each) => each.method === 'POST' && each.path.endsWith(path))
    .length;

async function run(amount: string): Promise<string> {
  const movement = await own.api.create('test/exchange-out', { amount });
  await own.api.approve(movement);
  return movement.movement_id;
}

/** Waits for the end of the movement; its withdrawal must be the only new one. */
async function expectPaidOnce(id: string, before: number): Promise<void> {
  const movement = await own.api.reaches(id, 'COMPLETED', 240_000);
  expect(books().withdrawals).toHaveLength(before + 1);
  expect(movement.nodes[0]).toMatchObject({ external_ref: books().withdrawals[before]?.id });
  assertConsistent(movement, await own.api.timeline(id));
}

test('the service names no file of a key, and no log holds one', () => {
  const { env } = own.stack;
  const known = [JSON.stringify(env), readFileSync(env['SVC_VENUES_FILE'] ?? '', 'utf8')].join();
  expect(known).toContain('cex.token');
  const { api_key, secret } = desk.exchange.key(null);
  for (const text of ['main.json', 'credentials_file', desk.folder, api_key, secret])
    expect(known).not.toContain(text);
});

test('the process serves its account and sub-account, and no other account of its file', () => {
  const line = executor
    .text()
    .split('\n')
    .find((each) => each.includes('"listening"'));
  expect(JSON.parse(line ?? 'null')).toMatchObject({ venues: ['cex-main', 'cex-sub'] });
});

test('balances of its accounts come through the process', async () => {
  await eventually(
    async () => {
      const { balances } = (await own.api.expect(200, 'GET', '/balances')) as unknown as {
        balances: { venue_key: string; asset: string; withdrawable: string | null }[];
      };
      const found = balances.find(
        ({ venue_key, asset }) => venue_key === 'cex-main' && asset === 'USDC',
      );
      const isSub = balances.some(({ venue_key }) => venue_key === 'cex-sub');
      return isSub && found?.withdrawable === '1000' ? found : null;
    },
    { what: () => 'the balances of both accounts' },
  );
});

test('a withdrawal is paid through it', async () => {
  await expectPaidOnce(await run('100'), 0);
}, 300_000);

test('one whose answer the exchange loses is found and paid once', async () => {
  const before = books().withdrawals.length;
  desk.exchange.fail({ path: 'withdraw/apply', kind: 'done_then_hangup' });
  await expectPaidOnce(await run('50'), before);
}, 300_000);

test('one whose process is killed between the send and its answer is paid once', async () => {
  const before = books().withdrawals.length;
  const requests = sends('withdraw/apply');
  desk.exchange.afterNext('withdraw/apply', () => executor.kill('SIGKILL'));
  const id = await run('60');
  expect(await executor.ended).toBeNull();
  await startExecutor();
  await expectPaidOnce(id, before);
  expect(sends('withdraw/apply')).toBe(requests + 1);
}, 300_000);

test('a capital transfer is moved once through it', async () => {
  const body = {
    source_venue: 'cex-main',
    destination_venue: 'cex-sub',
    asset: 'USDC',
    amount: '25.5',
    reason: 'a test',
    idempotency_key: randomUUID(),
  };
  const made = await own.api.expect(201, 'POST', '/capital-transfers', body);
  const path = `/capital-transfers/${String(made['transfer_id'])}`;
  await eventually(
    async () =>
      (await own.api.expect(200, 'GET', path))['request_state'] === 'COMPLETED' ? true : null,
    { what: () => 'the transfer to complete' },
  );
  expect([books().transfers.length, books().get(SUB, 'SPOT', 'USDC')]).toEqual([1, '25.5']);
}, 300_000);

test('the books of the exchange are compared through it', async () => {
  books().withdrawals.push(madeWithdrawal({ id: 'w-of-another', time: Date.now() - HOUR }));
  let out = '';
  const time = (before: number): string => new Date(Date.now() - before).toISOString();
  const period = ['--from', time(2 * HOUR), '--to', time(HOUR / 2)];
  const status = await fundadmin(['venues', 'reconcile', '--venue', 'cex-main', ...period], {
    env: {
      SVC_DATABASE_URL: own.stack.databaseUrl,
      SVC_VENUES_FILE: own.stack.env['SVC_VENUES_FILE'] ?? '',
    },
    out: (text) => (out += text),
    err: (text) => (out += text),
  });
  expect([status, out]).toEqual([0, expect.stringContaining('w-of-another')]);
}, 120_000);

test('a second process for the same key does not start, also with a copy of its file', async () => {
  const text = readFileSync(join(desk.folder, 'venues.json'), 'utf8');
  writeFileSync(join(desk.folder, 'copied.json'), text.replaceAll('main.json', 'copy.json'));
  await desk.keyFile('copy.json', desk.exchange.key(null));
  for (const file of ['venues.json', 'copied.json'])
    await expect(startExecutor(file)).rejects.toThrow(/another executor process is using/);
  const first = await fetch(`http://127.0.0.1:${String(port)}/health`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(first.status).toBe(200);
}, 120_000);

test('no log of the stack or of the process holds the key, its secret or the token', async () => {
  executor.kill('SIGTERM');
  expect(await executor.ended).toBe(0);
  const logs = join(own.stack.dataDir, 'logs');
  const all = readdirSync(logs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(logs, name), 'utf8'));
  const text = [...all, written, executor.text()].join('\n');
  expect(text).toContain('ccxt.withdrawal');
  const { api_key, secret } = desk.exchange.key(null);
  for (const hidden of [api_key, secret, 'signature=', TOKEN]) expect(text).not.toContain(hidden);
}, 120_000);
