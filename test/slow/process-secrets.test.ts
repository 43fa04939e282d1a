/**
 * A process opens only the secrets of its role: API and worker run as users of their own, and the
 * files of the other are there and closed to them. Where users cannot be changed, both run as one,
 * and what the other opens has no permissions at all; where that user is root, it is not there.
 */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import { secretsKeyPath } from '../../dev/stack/keys.ts';
import { servicePart } from '../../dev/stack/service.ts';
import { starterTemplates } from '../../dev/stack/starter-templates.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { auditKeys } from '../../platform/audit-chain.ts';
import { parseSecretsKey } from '../../platform/secrets.ts';
import { fundadmin } from '../../tools/command-line.ts';
import {
  driftOnceKnown,
  startOwnStack,
  WITHDRAW_TO_TREASURY,
  type OwnStack,
} from '../support/own-stack.ts';

const isRoot = process.getuid?.() === 0;
/** Whether another user can run what is built here. */
const mayChangeUsers = isRoot && ancestorsOf(ROOT).every((at) => (statSync(at).mode & 0o001) !== 0);
/** Of no account: nothing belongs to them. */
const USERS = { api: 61_201, worker: 61_202 } as const;
type Role = keyof typeof USERS;

let own: OwnStack;
let folder: string;
let supervisor: Supervisor;
let secrets: string;
beforeAll(async () => {
  own = await startOwnStack({ service: false });
  folder = mkdtempSync(join(tmpdir(), 'process-secrets-'));
  // The folder of all tests of a run is the run's alone.
  if (mayChangeUsers) for (const at of [tmpdir(), folder]) chmodSync(at, 0o711);
  mkdirSync(join(folder, 'run'));
  supervisor = new Supervisor({
    dataDir: join(folder, 'run'),
    restart: false,
    log: () => undefined,
  });
  secrets = readFileSync(secretsKeyPath(own.stack.dataDir), 'utf8').trim();
}, 240_000);
afterAll(async () => {
  await supervisor?.stopAll();
  await own?.close();
  rmSync(folder, { recursive: true, force: true });
});

function ancestorsOf(path: string): readonly string[] {
  return dirname(path) === path ? [path] : [path, ...ancestorsOf(dirname(path))];
}

interface File {
  readonly text: string;
  /** Who opens it. */
  readonly of: readonly Role[];
}

function filesOf(): Readonly<Record<string, File>> {
  const parsed = parseSecretsKey(secrets);
  if (!parsed.ok) throw new Error('the key of the stack cannot be read');
  const [auditKey] = auditKeys(parsed.keys);
  const registry = JSON.parse(
    readFileSync(own.stack.env['SVC_REGISTRY_FILE'] ?? '', 'utf8'),
  ) as Record<'executors' | 'signers', object[]>;
  const venues = JSON.parse(readFileSync(own.stack.env['SVC_VENUES_FILE'] ?? '', 'utf8')) as {
    venues: object[];
  };
  const nowhere = 'http://127.0.0.1:9';
  registry.executors.push(
    {
      executor_key: 'far',
      kind: 'remote',
      url: nowhere,
      action_types: ['far_payment'],
      payees: [],
      auth_token_file: 'far.token',
    },
    {
      executor_key: 'team',
      kind: 'task_queue',
      task_queue: 'team',
      payees: [],
      action_types: ['team_payment'],
      result_secret_file: 'team.secret',
    },
  );
  registry.signers.push({
    signer_key: 'remote',
    chain_family: 'evm',
    backend: 'remote',
    profile: 'remote',
    url: nowhere,
    auth_token_file: 'signer.token',
    timeout_seconds: 1,
  });
  venues.venues.push({
    venue_key: 'exchange',
    provider: 'ccxt',
    exchange: 'binance',
    account_role: 'master',
    account: 'main',
    base_url: nowhere,
    credentials_file: 'exchange.json',
    fetch_interval_seconds: 3_600,
  });
  venues.venues.push({
    venue_key: 'apart',
    provider: 'ccxt',
    exchange: 'binance',
    account_role: 'master',
    account: 'apart',
    served_at: { url: nowhere, auth_token_file: 'apart.token' },
    fetch_interval_seconds: 3_600,
  });
  const writers = Object.fromEntries([['ops', 'a'.repeat(64)]]);
  return {
    'registry.json': { text: JSON.stringify(registry), of: ['api', 'worker'] },
    'venues.json': { text: JSON.stringify(venues), of: ['api', 'worker'] },
    'secrets.key': { text: secrets, of: ['api'] },
    'dashboard.json': { text: JSON.stringify(writers), of: ['api'] },
    'payload.keys': {
      text: `one:${Buffer.alloc(32, 3).toString('base64')}`,
      of: ['api', 'worker'],
    },
    'audit.key': { text: auditKey?.export().toString('base64') ?? '', of: ['worker'] },
    'callback.secret': { text: 'a secret that signs callbacks', of: ['worker'] },
    'dev-treasury.key': { text: own.stack.chain.accounts.signer.privateKey, of: ['worker'] },
    'signer.token': { text: 'a token of a signer', of: ['worker'] },
    'far.token': { text: 'a token of an executor', of: ['worker'] },
    'team.secret': { text: 'a secret of a team, long enough', of: ['worker'] },
    'apart.token': { text: 'token-of-a-process-with-keys', of: ['worker'] },
    'exchange.json': { text: JSON.stringify({ api_key: 'k', secret: 's' }), of: ['worker'] },
  };
}

/** Starts it over a folder of its own, in which only its files are open to its user. */
async function start(role: Role, port: number): Promise<string> {
  const at = join(folder, role);
  mkdirSync(at);
  const user = mayChangeUsers ? USERS[role] : (process.getuid?.() ?? 0);
  const other = mayChangeUsers ? USERS[role === 'api' ? 'worker' : 'api'] : user;
  for (const [name, { text, of }] of Object.entries(filesOf())) {
    const path = join(at, name);
    const isOpen = of.includes(role);
    if (!isOpen && isRoot && !mayChangeUsers) continue;
    writeFileSync(path, text);
    chmodSync(path, isOpen ? 0o600 : 0o000);
    if (mayChangeUsers) chownSync(path, isOpen ? user : other, -1);
  }
  if (mayChangeUsers) chownSync(at, user, -1);
  const ports = Object.values(own.stack.ports);
  const opsPort = await freePort([...ports, port]);
  const env = {
    ...own.stack.env,
    SVC_PORT: String(port),
    SVC_OPS_PORT: String(opsPort),
    SVC_REGISTRY_FILE: join(at, 'registry.json'),
    SVC_VENUES_FILE: join(at, 'venues.json'),
    SVC_SECRETS_KEY_FILE: join(at, 'secrets.key'),
    SVC_PAYLOAD_KEYS_FILE: join(at, 'payload.keys'),
    SVC_CALLBACK_ALLOWED_HOSTS_CSV: 'hooks.test',
    SVC_CALLBACK_HMAC_SECRET_FILE: join(at, 'callback.secret'),
    SVC_DASHBOARD_WRITER_KEYS_FILE: join(at, 'dashboard.json'),
    SVC_DASHBOARD_EXPECTED_WRITER_KEYS: '1',
    ...(role === 'api' ? {} : { SVC_AUDIT_KEY_FILE: join(at, 'audit.key') }),
  };
  const spec = servicePart({ role, env, opsPort, logDir: folder });
  await supervisor.add({ ...spec, ...(mayChangeUsers ? { uid: user, gid: user } : {}) });
  return `http://127.0.0.1:${String(opsPort)}`;
}

test('a movement is approved over an API and runs on a worker, each without the secrets of the other', async () => {
  const { api, stack } = own;
  await start('api', stack.ports.api);
  for (const template of starterTemplates(stack.chain, null, null))
    await api.expect(201, 'POST', '/plan-templates', template);
  const address = stack.chain.accounts.signer.address;
  const pin = (expected: string, previous: string | null) =>
    api.send('PUT', '/signers/dev-treasury/expected-identity', {
      expected_address: expected,
      previous_expected_address: previous,
      reason: 'test',
    });
  // What only a signer knows is refused while no worker can say it.
  expect(await pin(address, null)).toMatchObject({
    status: 409,
    body: { detail: { error: 'signer_runtime_identity_unavailable' } },
  });

  await start('worker', stack.ports.api);
  expect(await pin('0x000000000000000000000000000000000000dEaD', null)).toMatchObject({
    body: { detail: { error: 'signer_identity_mismatch' } },
  });
  expect(await pin(address, null)).toMatchObject({ status: 200, body: { outcome: 'changed' } });
  const { balances } = (await api.expect(
    200,
    'GET',
    '/balances?venue_key=local-chain:dev-treasury&fresh=true',
  )) as { balances: readonly { asset: string }[] };
  expect(balances.map(({ asset }) => asset)).toContain('USDC');
  expect(await driftOnceKnown(api)).toMatchObject([
    { key: 'remote', problem: 'identity_unavailable' },
  ]);

  const movement = await api.create(WITHDRAW_TO_TREASURY, { amount: '5' });
  await api.approve(movement);
  await api.reaches(movement.movement_id, 'COMPLETED', 120_000);

  const waiting = await own.query<{ kind: string }>('SELECT kind FROM requested_looks');
  expect(waiting).toEqual([]);
  // Rows of both are vouched for under one key, though the worker has only what follows from it.
  let out = '';
  const status = await fundadmin(['audit', 'verify'], {
    env: { SVC_DATABASE_URL: stack.databaseUrl, SVC_SECRETS_KEY: secrets },
    out: (text) => (out += text),
    err: (text) => (out += text),
  });
  expect([status, out]).toEqual([0, expect.stringContaining('"ok":true')]);
}, 300_000);

test('what a role needs stops its start where it cannot be read', async () => {
  const check = async (role: Role) => {
    const at = join(folder, role === 'api' ? 'worker' : 'api');
    let err = '';
    await fundadmin(['config', 'check', '--offline', '--role', role], {
      env: {
        ...own.stack.env,
        SVC_REGISTRY_FILE: join(at, 'registry.json'),
        SVC_SECRETS_KEY_FILE: join(folder, 'away'),
        SVC_CALLBACK_ALLOWED_HOSTS_CSV: 'hooks.test',
        SVC_CALLBACK_HMAC_SECRET_FILE: join(folder, 'away'),
        SVC_AUDIT_KEY: secrets,
      },
      out: () => undefined,
      err: (text) => (err += text),
    });
    return err;
  };
  expect(await check('worker')).toMatch(/SVC_CALLBACK_HMAC_SECRET_FILE: .*ENOENT/);
  expect(await check('worker')).not.toContain('SVC_SECRETS_KEY');
  expect(await check('api')).toMatch(/SVC_SECRETS_KEY_FILE: .*ENOENT/);
  expect(await check('api')).not.toContain('SVC_CALLBACK');
});
