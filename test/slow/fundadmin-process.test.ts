/**
 * Every command of `fundadmin` as a process over a real database: it does its work and then ends by
 * itself.
 */
import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import pg from 'pg';
import { serveConsole } from '../../api/console/serve.ts';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import { SERVICE_ROLE } from '../../dev/stack/postgres.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { readConsole } from '../../platform/console-files.ts';
import { passkeyFingerprint } from '../../platform/passkeys.ts';
import { parseSecretsKey, sealSecret } from '../../platform/secrets.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { fillKey } from '../../store/dashboard-keys.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import { temporalPart } from '../../dev/stack/temporal.ts';
import { built } from '../../dev/bootstrap/programs.mjs';
import { fundadminProgram } from '../../tools/command-line.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { startExchange } from '../venues/cex/support/exchange.ts';
import { madeWithdrawal } from '../venues/cex/support/made.ts';

/**
 * A process that hangs is killed after this; a slow one has ended long before.
 */
const HANGS_AFTER_MS = 150_000;

interface Ended {
  /** Null when it had to be killed. */
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

let own: Awaited<ReturnType<typeof startOwnDatabase>>;
let folder: string;
/** The commands that were run, as `group command` or `command`. */
const run = new Set<string>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fundadmin-'));
  own = await startOwnDatabase();
}, 120_000);
afterAll(async () => {
  await own?.close();
  rmSync(folder, { recursive: true });
});

function start(
  program: readonly string[],
  url = own.url,
  settings: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const env = {
    ...process.env,
    ...settings,
    NODE_OPTIONS: '',
    SVC_DATABASE_URL: url,
    SVC_DATABASE_OWNER_URL: url,
    SVC_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const options = { cwd: ROOT, env, timeout: HANGS_AFTER_MS, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, program, options, (error, out, err) => {
      resolve({
        status: error === null ? 0 : typeof error.code === 'number' ? error.code : null,
        out,
        err,
      });
    });
  });
}

/** Runs one command line and answers the JSON that it printed. */
async function fundadmin(
  line: string,
  settings?: NodeJS.ProcessEnv,
): Promise<Record<string, unknown>> {
  const program = [built('fundadmin'), ...line.split(' ')];
  const { status, out, err } = await start(program, own.url, settings);
  expect({ line, status, err }).toMatchObject({ line, status: 0 });
  const words = line.split(' ').slice(0, 2);
  run.add(words.filter((word) => !word.startsWith('-')).join(' '));
  return JSON.parse(out) as Record<string, unknown>;
}

/** Runs one command line, which must be refused for this reason. */
async function refused(line: string, error: string): Promise<void> {
  const { status, err } = await start([built('fundadmin'), ...`${line} --reason test`.split(' ')]);
  expect({ line, status, err }).toEqual({ line, status: 1, err: expect.stringContaining(error) });
}

// First, while there is nothing to seal: rows that wait long for their seal are a fault, and here
// no worker seals.
test('audit', async () => {
  const key = join(folder, 'key.pem');
  const bundle = join(folder, 'bundle.jsonl');
  await fundadmin(`audit make-key --out ${key}`);
  await fundadmin('audit verify');
  expect(await fundadmin('audit decisions')).toMatchObject({ ok: true, decisions: 0, all: [] });
  await fundadmin(
    `audit export --from 2020-01-01 --to 2020-01-02 --key-file ${key} --out ${bundle}`,
  );
  await fundadmin(`audit check-bundle ${bundle}`);
}, 600_000);

test('keys', async () => {
  expect(
    await fundadmin('keys issue --client-name desk --key-id desk-1 --role operator'),
  ).toMatchObject({ key_id: 'desk-1' });
  expect(await fundadmin('keys list')).toMatchObject([{ key_id: 'desk-1' }]);
  expect(await fundadmin('keys audit-key')).toEqual({
    audit_key: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
  });
  expect(await fundadmin('keys revoke --key-id desk-1')).toMatchObject({ key_id: 'desk-1' });
  expect(await fundadmin('keys revoke --key-id desk-1 --compromised')).toMatchObject({
    was: 'revoked',
    compromised: { movements_in_attention: { count: 0, ids: [] } },
  });
}, 600_000);

test('allowlist', async () => {
  const address = `0x${'1'.repeat(40)}`;
  const { row } = await fundadmin(`allowlist add --family evm --address ${address} --reason test`);
  const { id } = row as { readonly id: string };
  for (const change of ['revoke', 'reactivate', 'set-chain --chain-id 1']) {
    expect(await fundadmin(`allowlist ${change} --id ${id} --reason test`)).toMatchObject({
      row: { id },
    });
  }
  expect(await fundadmin('allowlist list')).toMatchObject([{ id }]);
}, 600_000);

test('console', async () => {
  const serve = serveConsole(readConsole(), () => undefined);
  const server = createServer((request, response) => serve(request.url ?? '', request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await fundadmin(`console verify --url http://127.0.0.1:${String(port)}`)).toMatchObject({
    ok: true,
    faults: [],
  });
  server.close();
}, 600_000);

test('dashboard', async () => {
  const origin = { SVC_CONSOLE_ORIGIN: 'https://treasury.example' };
  const who = '--operator ada --role operator';
  const { key_id, link } = (await fundadmin(`dashboard enrol ${who}`, origin)) as {
    readonly key_id: string;
    readonly link: string;
  };
  expect(link).toMatch(/^https:\/\/treasury\.example\/console\/#enrol=[A-Za-z0-9_-]{43}$/);
  const enrol = [built('fundadmin'), 'dashboard', 'enrol', ...who.split(' ')];
  expect(await start(enrol)).toMatchObject({
    status: 1,
    err: expect.stringContaining('--replace'),
  });

  // As the service stores what a browser has handed over.
  const secret = 's'.repeat(43);
  const secrets = parseSecretsKey(Buffer.alloc(32, 7).toString('base64'));
  if (!secrets.ok) throw new Error('no key of the service');
  const db = connectDatabase({ url: own.url, poolSize: 1 });
  await fillKey(db, key_id, sealSecret(secrets.keys, secret, key_id), []);
  await db.$disconnect();
  // Of the HMAC by openssl, not by our code: 80 bits in Crockford's digits.
  const mac = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-binary'], {
    input: 'SVC-DASHBOARD-FINGERPRINT\nada',
  });
  const bits = BigInt(`0x${mac.subarray(0, 10).toString('hex')}`);
  const shown = Array.from({ length: 16 }, (_, at) =>
    '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.charAt(Number((bits >> BigInt(75 - 5 * at)) & 31n)),
  ).join('');
  const confirm = [built('fundadmin'), 'dashboard', 'confirm', '--operator', 'ada'];
  const other = `${shown.startsWith('0') ? '1' : '0'}${shown.slice(1)}`;
  expect(await start([...confirm, '--fingerprint', other])).toMatchObject({
    status: 1,
    err: expect.stringContaining('another fingerprint'),
  });
  const ada = '--operator ada';
  expect(
    await fundadmin(`dashboard confirm ${ada} --fingerprint ${shown.toLowerCase()}`),
  ).toMatchObject({ key_id, state: 'confirmed' });
  expect(await fundadmin('dashboard list')).toMatchObject({
    keys: [{ key_id, operator: 'ada', state: 'confirmed', open_sessions: 0 }],
    file: [],
  });
  expect(await fundadmin(`dashboard sessions end ${ada}`)).toMatchObject({ ended_sessions: 0 });
  expect(await fundadmin('dashboard sessions end --all')).toMatchObject({ operator: null });
  expect(await fundadmin(`dashboard end ${ada}`)).toMatchObject({ key_id, state: 'ended' });
  expect(await fundadmin(`dashboard end ${ada} --compromised`)).toMatchObject({
    key_id,
    compromised: { approvals_that_count_no_longer: 0, ended_sessions: 0 },
  });

  // One of the file is known, too, and its key ends when its browser is to have another one.
  const keys = join(folder, 'writers.json');
  writeFileSync(keys, JSON.stringify({ bob: 'b'.repeat(32) }));
  const file = {
    SVC_DASHBOARD_WRITER_KEYS_FILE: keys,
    SVC_DASHBOARD_EXPECTED_WRITER_KEYS: '1',
  };
  const bob = [...enrol.slice(0, 4), 'bob', ...enrol.slice(5)];
  expect(await start(bob, own.url, file)).toMatchObject({
    status: 1,
    err: expect.stringContaining('SVC_DASHBOARD_WRITER_KEYS_FILE'),
  });
  expect(
    await fundadmin('dashboard enrol --operator bob --role admin --allowlist --replace', file),
  ).toMatchObject({ operator: 'bob', allowlist: true, replaces: true });
  expect(await fundadmin('dashboard list', file)).toMatchObject({ file: ['bob'] });
}, 600_000);

test('people, approver-groups and approval-rules', async () => {
  const why = '--reason test';
  const ruleFile = (name: string, rule: object): string => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(rule));
    return file;
  };
  const requires = (threshold: number) => ({ require: [{ group: 'desk', threshold }] });

  const { client_id } = await fundadmin(
    'keys issue --client-name approver --key-id approver-1 --role operator',
  );
  expect(
    await fundadmin(`people set --person ann --name Ann --client approver --operator ann ${why}`),
  ).toEqual({
    before: null,
    after: { name: 'Ann', identities: [client_id, 'dashboard:ann'], groups: [] },
  });
  await refused('people set --person bob --name Bob --client stranger', 'no API client stranger');
  await refused(
    `people set --person bob --name Bob --client ${String(client_id)}`,
    'belongs to ann (Ann)',
  );
  await fundadmin(`people set --person bob --name Bob --operator bob ${why}`);
  await refused('approver-groups set --name desk --member cid', 'no person cid');
  expect(
    await fundadmin(`approver-groups set --name desk --member bob --member ann ${why}`),
  ).toEqual({ before: null, after: { name: 'desk', members: ['ann', 'bob'] } });

  // First the rules that guard all others; from then on each change needs the flag.
  const two = ruleFile('two.json', requires(2));
  await refused(`approval-rules set --name all --file ${two}`, 'rules_unguarded');
  const glass = `--break-glass ${why} --as ann`;
  // Both of the desk would have to approve, also who makes the request.
  const both = ruleFile('both.json', { ...requires(2), applies_to: 'keys' });
  await refused(`approval-rules set --name keys --file ${both}`, 'rule_unsatisfiable');
  const keys = { ...requires(1), applies_to: 'keys', initiator_may_approve: true };
  expect(
    await fundadmin(`approval-rules set --name keys --file ${ruleFile('keys.json', keys)} ${why}`),
  ).toEqual({ before: null, after: expect.objectContaining(keys) });
  await refused('people remove --person bob', '--as <person>');
  await refused('people remove --person bob --as ann', '--break-glass');
  const rules = { ...requires(1), applies_to: 'approval_rules', initiator_may_approve: true };
  expect(
    await fundadmin(
      `approval-rules set --name rules --file ${ruleFile('rules.json', rules)} ${glass}`,
    ),
  ).toMatchObject({ before: null, after: rules, break_glass: true });

  const three = ruleFile('three.json', requires(3));
  const set = 'approval-rules set --break-glass --as ann --name all --file';
  await refused(`${set} ${three}`, 'rule_unsatisfiable');
  const agents = ruleFile('agents.json', { ...requires(1), when: { origins: ['agent'] } });
  await refused(`${set} ${agents}`, 'rule_avoidable');
  const wrong = [built('fundadmin'), 'approval-rules', 'set', '--name', 'all', '--reason', 'test'];
  expect(await start([...wrong, '--file', ruleFile('wrong.json', { when: { to: 1 } })])).toEqual({
    status: 2,
    out: '',
    err: expect.stringMatching(/^The rule does not fit:\n(?=[^]*^when: )(?=[^]*^require: )/m),
  });
  expect(await fundadmin(`${set} ${two} ${why}`)).toEqual({
    before: null,
    after: {
      ...requires(2),
      applies_to: 'movement',
      when: {},
      initiator_may_approve: false,
      payee_author_may_approve: false,
      template_author_may_approve: false,
      reason_required: false,
      evidence: 'any',
    },
    break_glass: true,
  });
  expect(
    await fundadmin(`approval-rules try --file ${two} --from 2020-01-01 --to 2020-01-02`),
  ).toMatchObject({ movements: 0, listed: [] });
  expect(await fundadmin('approval-rules list')).toMatchObject([
    { name: 'all', revision: 1, ...requires(2) },
    { name: 'keys', revision: 1, ...keys },
    { name: 'rules', revision: 1, ...rules },
  ]);

  // The same with a rule for changes of rules; and each rule must stay possible.
  await refused('people set --person bob --name Bobby --operator bob --as ann', '--break-glass');
  await refused('people remove --person bob --break-glass --as ann', 'rule_unsatisfiable');
  await refused(
    'approver-groups remove --name desk --break-glass --as ann',
    'name the group desk: all, keys, rules',
  );
  const one = ruleFile('one.json', requires(1));
  expect(await fundadmin(`${set} ${one} ${why}`)).toMatchObject({
    before: requires(2),
    after: requires(1),
    break_glass: true,
  });
  expect(await fundadmin(`people remove --person bob ${glass}`)).toEqual({
    before: { name: 'Bob', identities: ['dashboard:bob'], groups: ['desk'] },
    after: null,
    break_glass: true,
  });
  expect(await fundadmin('people list')).toMatchObject([{ person: 'ann', groups: ['desk'] }]);
  expect(await fundadmin('approver-groups list')).toEqual([{ name: 'desk', members: ['ann'] }]);
  // The two that guard the others go last.
  for (const name of ['keys', 'rules'])
    await refused(`approval-rules remove --name ${name} --break-glass --as ann`, 'rules_unguarded');
  for (const name of ['all', 'keys', 'rules'])
    expect(await fundadmin(`approval-rules remove --name ${name} ${glass}`)).toMatchObject({
      before: requires(1),
      after: null,
      break_glass: true,
    });
  expect(await fundadmin('approval-rules list')).toEqual([]);
  expect(await fundadmin(`approver-groups remove --name desk ${why}`)).toMatchObject({
    after: null,
  });

  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT action, entity_key, details ->> 'break_glass' AS glass FROM audit_events WHERE entity_type IN ('person', 'approver_group', 'approval_rule') ORDER BY occurred_at, event_id",
  );
  const { rows: requests } = await client
    .query("SELECT path FROM change_requests WHERE break_glass AND state = 'applied'")
    .finally(() => client.end());
  expect(rows).toEqual([
    { action: 'person.set', entity_key: 'ann', glass: null },
    { action: 'person.set', entity_key: 'bob', glass: null },
    { action: 'approver_group.set', entity_key: 'desk', glass: null },
    { action: 'approval_rule.set', entity_key: 'keys', glass: null },
    { action: 'approval_rule.set', entity_key: 'rules', glass: 'true' },
    { action: 'approval_rule.set', entity_key: 'all', glass: 'true' },
    { action: 'approval_rule.set', entity_key: 'all', glass: 'true' },
    { action: 'person.remove', entity_key: 'bob', glass: 'true' },
    { action: 'approval_rule.remove', entity_key: 'all', glass: 'true' },
    { action: 'approval_rule.remove', entity_key: 'keys', glass: 'true' },
    { action: 'approval_rule.remove', entity_key: 'rules', glass: 'true' },
    { action: 'approver_group.remove', entity_key: 'desk', glass: null },
  ]);
  // What was changed alone is recorded where everybody sees it.
  expect(requests).toHaveLength(rows.filter(({ glass: broken }) => broken === 'true').length);
}, 600_000);

test('policies', async () => {
  const file = join(folder, 'policy.json');
  const policy = { client_id: randomUUID(), strategy_id: 'rebalancing' };
  writeFileSync(file, JSON.stringify(policy));
  const time = '--from 2020-01-01 --to 2020-01-02';
  expect(await fundadmin(`policies try --file ${file} ${time}`)).toEqual({
    ...policy,
    from: '2020-01-01T00:00:00.000Z',
    to: '2020-01-02T00:00:00.000Z',
    movements: 0,
    totals: {
      approves: 0,
      waits: 0,
      by_reason: {},
      amount_approved: {},
      rejected: 0,
      approved_automatically: 0,
    },
    by_agents: 0,
    listed: [],
  });
}, 600_000);

test('webhooks', async () => {
  const of = '--name desk';
  const set = `webhooks set ${of} --console-origin https://funds.example`;
  expect(
    await fundadmin(`${set} --url https://Hooks.example:443/in --event cutover.changed`),
  ).toMatchObject({
    name: 'desk',
    url: 'https://hooks.example/in',
    event_types: ['cutover.changed'],
    console_origin: 'https://funds.example',
  });
  expect(await fundadmin(`${set} --url https://hooks.example/in`)).toMatchObject({
    event_types: null,
  });
  expect(await fundadmin(`webhooks test ${of}`)).toEqual({
    name: 'desk',
    event_id: expect.any(String),
  });
  expect(await fundadmin('webhooks list')).toMatchObject([{ name: 'desk' }]);
  expect(await fundadmin(`webhooks remove ${of}`)).toEqual({ name: 'desk', removed: true });
  await refused(`webhooks remove ${of}`, 'There is no webhook desk');
}, 600_000);

test('passkeys', async () => {
  const offered = { credential_id: 'id', public_key: 'key' };
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  await client
    .query(
      `INSERT INTO passkey_candidates
         (credential_id, person, identity, public_key, counter, origin, created_at)
       SELECT $1, person, identity, $2, 0, 'http://localhost:3000', now()
       FROM person_identities WHERE person = 'ann' LIMIT 1`,
      [offered.credential_id, offered.public_key],
    )
    .finally(() => client.end());
  const fingerprint = passkeyFingerprint(offered);
  await refused('passkeys confirm --person ann --fingerprint AAAA-AAAA-AAAA-AAAA', 'no passkey');
  const confirm = `passkeys confirm --person ann --fingerprint ${fingerprint}`;
  const passkey = { credential_id: 'id', person: 'ann', fingerprint, revoked_at: null };
  expect(await fundadmin(confirm)).toMatchObject(passkey);
  expect(await fundadmin('passkeys list')).toMatchObject([passkey]);
  expect(await fundadmin('passkeys revoke --credential id')).toMatchObject({
    revoked_at: expect.any(String),
  });
  await refused('passkeys revoke --credential id', 'No passkey of this id');
}, 600_000);

test('bridge', async () => {
  const why = '--reason test';
  const chain = (eid: number): string =>
    `--endpoint ${String(eid)}:0x${'e'.repeat(40)} --finality-age 60 ${why}`;
  const path = 'far near USDC';
  const budgets = '--expected-latency 60 --detection-budget 120 --fee-budget 0.01';
  await fundadmin(`bridge add-chain far ${chain(30_101)}`);
  await fundadmin(`bridge add-chain near ${chain(30_102)}`);
  expect(await fundadmin('bridge chains')).toHaveLength(2);
  await fundadmin(`bridge replace-chain near ${chain(30_103)}`);
  await fundadmin(`bridge add-baseline ${path} ${budgets} ${why}`);
  await fundadmin(`bridge replace-baseline ${path} ${budgets} --enabled false ${why}`);
  const venues = join(folder, 'venues.json');
  writeFileSync(venues, '{"venues": []}');
  expect(
    await fundadmin(`bridge drill-pass ${path} --evidence runs/1 ${why}`, {
      SVC_VENUES_FILE: venues,
    }),
  ).toMatchObject({ last_drill_evidence_path: 'runs/1' });
  expect(await fundadmin('bridge baselines')).toHaveLength(1);
  await fundadmin(`bridge remove-baseline ${path} ${why}`);
  await fundadmin(`bridge remove-chain far ${why}`);
}, 600_000);

test('venues', async () => {
  const exchange = await startExchange();
  const credentials_file = join(folder, 'exchange-key.json');
  writeFileSync(credentials_file, JSON.stringify(exchange.key(null)), { mode: 0o600 });
  const file = join(folder, 'exchange.json');
  const account = {
    venue_key: 'main',
    provider: 'ccxt',
    exchange: 'binance',
    account_role: 'master',
    account: 'master@example.com',
    credentials_file,
    base_url: exchange.url,
  };
  writeFileSync(file, JSON.stringify({ venues: [account] }));
  const daysAgo = (days: number): number => exchange.books.now() - days * 86_400_000;
  const [from, to] = [3, 1].map((days) => new Date(daysAgo(days)).toISOString());
  const reconcile = `venues reconcile --venue main --from ${String(from)} --to ${String(to)}`;
  expect(await fundadmin(`${reconcile} --venues-file ${file}`)).toEqual({
    venue: 'main',
    from,
    to,
    counts: { ours: 0, foreign: 0, missing: 0, differs: 0, open: 0 },
    lines: [],
  });

  // A withdrawal that somebody made at the exchange itself is no fault.
  exchange.books.withdrawals.push(madeWithdrawal({ id: 'by-hand', time: daysAgo(2) }));
  const found = await fundadmin(reconcile, { SVC_VENUES_FILE: file });
  expect(found).toMatchObject({
    counts: { ours: 0, foreign: 1, missing: 0, differs: 0, open: 0 },
    lines: [{ verdict: 'foreign', ours: null, records: [{ id: 'by-hand', amount: '100' }] }],
  });
  const csv = [built('fundadmin'), ...`${reconcile} --format csv --venues-file ${file}`.split(' ')];
  expect(await start(csv)).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^verdict,[^\n]*\r\nforeign,,withdrawal,[^\n]*,by-hand,[^\n]*\r\n$/),
  });
  await exchange.close();
}, 600_000);

test('what has no other', async () => {
  await fundadmin('reservations verify');
  expect(await fundadmin('counts verify')).toMatchObject({ ok: true });
  await fundadmin('counts rebuild');
  await fundadmin(`database grant --role ${SERVICE_ROLE}`);
  expect(await fundadmin('database migrate')).toEqual({ ok: true, applied: [] });
  expect(await fundadmin('database status')).toMatchObject({ ok: true, pending: [], unknown: [] });
  await fundadmin('config check --json --offline');
  expect(await fundadmin('after-restore')).toMatchObject({ nodes_asked_first: 0 });
}, 600_000);

test('from what `npm pack` takes, with the packages of production, an empty database is migrated', async () => {
  const root = join(folder, 'package');
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
  });
  execFileSync('tar', ['xzf', join(folder, packed.toString().trim()), '-C', folder]);
  const modules = join(root, 'node_modules');
  mkdirSync(modules);
  for (const name of productionPackages()) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    cpSync(join(ROOT, 'node_modules', name), join(modules, name), { recursive: true });
  }
  const program = join(root, 'dist', 'fundadmin.js');
  const client = new pg.Client({ connectionString: own.url });
  await client.connect();
  await client.query('CREATE DATABASE packed').finally(() => client.end());
  const url = own.url.replace(/\/[^/?]+(\?|$)/, '/packed$1');
  const before = await start([program, 'database', 'status'], url);
  expect(before).toMatchObject({ status: 1, err: expect.stringMatching(/not applied: 2026/) });
  const grant = ['--grant-to', SERVICE_ROLE];
  const migrated = await start([program, 'database', 'migrate', ...grant], url);
  expect(migrated).toMatchObject({ status: 0, err: expect.stringContaining('applied 2026') });
  expect(JSON.parse((await start([program, 'database', 'status'], url)).out)).toMatchObject({
    ok: true,
    pending: [],
  });
}, 600_000);

/**
 * What `npm ci --omit=dev` installs, but for the largest, which `fundadmin database` never loads.
 */
function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>
    >;
  };
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) => {
    const name = path.replace(/^node_modules\//, '');
    const left =
      dev === true || devOptional === true || /^ccxt$|@foundry-rs|node_modules/.test(name);
    return path === '' || left || !existsSync(join(ROOT, path)) ? [] : [name];
  });
}

test('movements and temporal, which need its server', async () => {
  const server = await findTemporalServer({}, () => undefined);
  if (server.kind !== 'binary') throw new Error('this test needs a server of its own');
  const port = await freePort();
  const uiPort = await freePort([port]);
  const supervisor = new Supervisor({ dataDir: folder, restart: false, log: () => undefined });
  try {
    await supervisor.add(
      temporalPart({
        binary: server.path,
        dataDir: folder,
        port,
        uiPort,
        logDir: folder,
        searchAttributes: [],
      }),
    );
    // As Temporal's own programs read it.
    const settings = { TEMPORAL_ADDRESS: `127.0.0.1:${String(port)}` };
    const register = 'temporal search-attributes';
    expect(await fundadmin(register, settings)).toMatchObject({ registered_now: true });
    expect(await fundadmin(register, settings)).toMatchObject({ ok: true, registered_now: false });
    expect(await fundadmin('movements rebuild --database-intact', settings)).toMatchObject({
      movements: { open: {}, started: [] },
    });
    const of = '--deployment fund-workers --build b1';
    expect(await fundadmin('runs builds --deployment fund-workers', settings)).toEqual([]);
    for (const command of ['runs drain', 'runs promote']) {
      const refused = [built('fundadmin'), ...`${command} ${of}`.split(' ')];
      expect(await start(refused, own.url, settings)).toMatchObject({
        status: 1,
        err: expect.stringContaining('No worker of fund-workers has registered the build b1'),
      });
      run.add(command);
    }
  } finally {
    await supervisor.stopAll();
  }
  const away = [built('fundadmin'), 'movements', 'rebuild', '--dry-run'];
  expect(await start(away, own.url, { TEMPORAL_ADDRESS: '127.0.0.1:1' })).toMatchObject({
    status: 1,
    err: expect.stringMatching(/^TEMPORAL_ADDRESS: Temporal does not answer at 127\.0\.0\.1:1/),
  });
}, 600_000);

test('`config check` tells in one run all that stops a start, and ends', async () => {
  const check = [built('fundadmin'), 'config', 'check'];
  const database = (name: string): string => own.url.replace(/\/[^/?]+(\?|$)/, `/${name}$1`);
  const temporal = { SVC_TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const unmigrated = await start(check, database('postgres'), { ...temporal, SVC_PORT: 'x' });
  expect(unmigrated).toMatchObject({ status: 1, out: '' });
  expect(unmigrated.err).toMatch(/SVC_PORT: must be a whole number/);
  expect(unmigrated.err).toMatch(/SVC_DATABASE_URL: Migrations are not applied: 2026/);
  expect(unmigrated.err).toMatch(/SVC_TEMPORAL_ADDRESS: Temporal does not answer at 127/);

  const away = await start(check, own.url.replace(/:\d+\//, ':1/'), temporal);
  expect(away.err).toMatch(/SVC_DATABASE_URL: Postgres does not answer \(ECONNREFUSED\)/);
  const missing = await start(check, database('nowhere'), temporal);
  expect(missing.err).toMatch(/SVC_DATABASE_URL: there is no such database/);
  // The database that is in order is no fault.
  expect((await start(check, own.url, temporal)).err).not.toContain('SVC_DATABASE_URL');
}, 600_000);

test('as `npm run fundadmin` starts it, refused and without a database it ends, too', async () => {
  const revoke = ['dev/run.mjs', 'fundadmin', 'keys', 'revoke', '--key-id', 'unknown-key'];
  expect(await start(revoke)).toMatchObject({
    status: 1,
    err: expect.stringContaining('unknown-key'),
  });
  const nowhere = own.url.replace(/:\d+\//, ':1/');
  expect(await start(revoke, nowhere)).toMatchObject({ status: 1 });
}, 600_000);

test('each command that there is was run', () => {
  const leaves = (command: Command, path: readonly string[]): readonly string[] =>
    command.commands.length === 0
      ? [path.slice(0, 2).join(' ')]
      : command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
  const silent = (): void => undefined;
  expect([...run].sort()).toEqual(
    [...leaves(fundadminProgram({ env: {}, out: silent, err: silent }), [])].sort(),
  );
});
