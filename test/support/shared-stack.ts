/** The one stack that all files of the project `stack` share. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts, type PortName } from '../../dev/stack/ports.ts';
import { secretsKeyFile } from '../../dev/stack/keys.ts';
import { ANY_FREE_PORTS, startStack, type Stack } from '../../dev/stack/stack.ts';
import { changeApprovers } from '../../store/approvals.ts';
import { listKeys } from '../../store/keys.ts';
import { withDatabase } from '../../tools/database.ts';
import { serviceBehindPooler, type Pooler } from './pgbouncer.ts';
import { findSecrets, secretsOf, type Secrets } from './secrets.ts';
import { findSignatures } from './sent-signatures.ts';
import {
  GUARDED_SIGNER,
  PURSE,
  PURSE_SIGNER,
  TEST_SIGNER,
  TOOL_PERSON,
  type SharedStack,
} from './shared-stack-facts.ts';

export { SENT_SIGNATURES } from './sent-signatures.ts';
export { SHARED_STACK } from './shared-stack-facts.ts';

const SENT = 'sent-signatures';

const WALLET = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const WALLET_KEY = '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a';
const GUARDED_KEY = '0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97';
const PURSE_KEY = '0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356';

/** As many as the service expects by default. */
const DASHBOARD_KEYS: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [
    `ops-${String(index + 1)}`,
    randomBytes(32).toString('hex'),
  ]),
);

/** The file: most operators have the allowlist alone, and two what keys of the API have. */
function withRoles(keys: typeof DASHBOARD_KEYS): Readonly<Record<string, unknown>> {
  const { 'ops-6': admin = '', 'ops-7': operator = '', ...others } = keys;
  return {
    ...others,
    'ops-6': { secret: admin, role: 'admin' },
    'ops-7': { secret: operator, role: 'operator' },
  };
}

/** Entries beside those of the embedded stack; nothing answers at the executors' address. */
const unreachable = { kind: 'remote', url: 'http://127.0.0.1:9', timeout_seconds: 1, payees: [] };
const EXECUTORS = [
  { ...unreachable, executor_key: 'test.twin-a', action_types: ['test_twin'] },
  { ...unreachable, executor_key: 'test.twin-b', action_types: ['test_twin'] },
  { ...unreachable, executor_key: 'test.switched', action_types: ['test_switched'] },
  { ...unreachable, executor_key: 'test.unstored', action_types: ['test_unstored'] },
  { ...unreachable, executor_key: 'test.previewed', action_types: ['test_previewed'] },
  {
    ...unreachable,
    executor_key: 'test.team',
    action_types: ['test_team_payment'],
    payees: [{ field: 'payee', family: 'cex' }],
  },
  { ...unreachable, executor_key: 'test.elsewhere', action_types: ['test_elsewhere'] },
  { ...unreachable, executor_key: 'test.recommended', action_types: ['test_recommended'] },
  // As the examples of the API's document show them.
  { ...unreachable, executor_key: 'example.bank', action_types: ['example_payment'] },
];
const SIGNERS = [
  { ...TEST_SIGNER, chain_family: 'evm', backend: 'local', private_key_file: 'test-wallet.key' },
  {
    ...GUARDED_SIGNER,
    chain_family: 'evm',
    backend: 'local',
    private_key_file: 'test-guarded.key',
  },
  { ...PURSE_SIGNER, chain_family: 'evm', backend: 'local', private_key_file: 'test-purse.key' },
  { signer_key: 'test-other-family', chain_family: 'solana', backend: 'noop' },
  { signer_key: 'test-unstored', chain_family: 'cosmos', backend: 'noop' },
  { signer_key: 'test-previewed', chain_family: 'near', backend: 'noop' },
  { signer_key: 'example-wallet', chain_family: 'stellar', backend: 'noop' },
];

/**
 * Bindings that only rules about them need: another master of the venue, and one of a venue that is
 * not there.
 */
const venuesAt = (paperVenueUrl: string): readonly object[] => [
  {
    venue_key: 'paper-second-main',
    provider: 'paper',
    account_role: 'master',
    account: 'paper-main',
    url: paperVenueUrl,
  },
  {
    venue_key: 'other-paper-main',
    provider: 'paper',
    account_role: 'master',
    account: 'main',
    url: `${paperVenueUrl}/other`,
  },
];

/**
 * Starts the stack in a folder of its own, with every line of its logs. `stop` leaves nothing of
 * it, and fails when a secret stands in a log: all tests of the project together are the proof that
 * none is written.
 */
export async function startSharedStack(): Promise<{
  readonly facts: SharedStack;
  stop(): Promise<void>;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shared-stack-'));
  const lines: string[] = [];
  let stack: Stack | null = null;
  let pooler: Pooler | null = null;
  const stop = async (): Promise<void> => {
    await stack?.stop();
    await pooler?.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const ports = await choosePorts(ANY_FREE_PORTS, Object.keys(ANY_FREE_PORTS) as PortName[]);
    const folder = join(dataDir, 'test-config');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'test-wallet.key'), WALLET_KEY, { mode: 0o600 });
    writeFileSync(join(folder, 'test-guarded.key'), GUARDED_KEY, { mode: 0o600 });
    writeFileSync(join(folder, 'test-purse.key'), PURSE_KEY, { mode: 0o600 });
    const keysFile = join(folder, 'dashboard-keys.json');
    writeFileSync(keysFile, JSON.stringify(withRoles(DASHBOARD_KEYS)), { mode: 0o600 });
    stack = await startStack({
      settings: { dataDir, ports },
      restart: false,
      durable: false,
      allow: [WALLET, PURSE],
      perp: true,
      more: (paperVenueUrl) => ({
        executors: EXECUTORS,
        signers: SIGNERS.map((signer) => ({
          ...signer,
          ...('private_key_file' in signer
            ? { private_key_file: join(folder, signer.private_key_file) }
            : {}),
        })),
        venues: venuesAt(paperVenueUrl),
      }),
      env: {
        SVC_RATE_LIMIT_ENABLED: 'false',
        SVC_DASHBOARD_WRITER_KEYS_FILE: keysFile,
        SVC_SWEEP_IDLE_SECONDS: '2',
        SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '3600',
        SVC_LOG_LEVEL: 'debug',
      },
      // `TEST_POOLER=transaction npm test -- test/http`: the same tests, behind pgbouncer.
      ...(process.env['TEST_POOLER'] === 'transaction'
        ? {
            database: async (serviceUrl: string, ownerUrl: string) => {
              const behind = await serviceBehindPooler(serviceUrl, ownerUrl);
              pooler = behind.pooler;
              return behind.env;
            },
          }
        : {}),
      log: (line) => lines.push(line),
    });
    const { apiUrl, opsUrl, uiUrl, temporalAddress, databaseUrl, paperVenueUrl, chain, keys } =
      stack;
    const { perp } = stack;
    if (perp === null) throw new Error('the shared stack has no perps venue');
    const toolEnv = {
      SVC_DATABASE_URL: databaseUrl,
      SVC_SECRETS_KEY_FILE: secretsKeyFile(dataDir),
    };
    const adminClientId = await withDatabase(
      {},
      { env: toolEnv, out: () => undefined, err: () => undefined },
      async (db) => {
        const who = { person: TOOL_PERSON, name: TOOL_PERSON, identities: ['dashboard:tool'] };
        await changeApprovers(db, { people: [who] }, []);
        return listKeys(db, 'dev-admin');
      },
    ).then(([key]) => key?.client_id ?? '');
    const running = stack;
    const checkedStop = async (): Promise<void> => {
      const secrets = await secretsOf(running).catch((): Secrets => ({}));
      await running.stop();
      const logs = join(dataDir, 'logs');
      const leaks = findSecrets(logs, {
        ...secrets,
        ...DASHBOARD_KEYS,
        'key of the test wallet': WALLET_KEY,
      });
      const sent = findSignatures(logs, join(dataDir, SENT));
      await stop();
      if (
        leaks.length + sent.leaks.length === 0 &&
        Object.keys(secrets).length > 0 &&
        sent.signatures > 0
      )
        return;
      const found = JSON.stringify({ leaks, sent });
      throw new Error(
        `logs of the shared stack hold secrets or signatures, or there was nothing to look for: ${found}`,
      );
    };
    return {
      stop: checkedStop,
      facts: {
        apiUrl,
        opsUrl,
        uiUrl: uiUrl ?? '',
        temporalAddress,
        databaseUrl,
        paperVenueUrl,
        chain,
        perp,
        keys,
        adminClientId,
        toolEnv,
        wallet: WALLET,
        dashboardKeys: DASHBOARD_KEYS,
        sentSignatures: join(dataDir, SENT),
      },
    };
  } catch (error) {
    await stop();
    throw new Error(`the shared stack did not start:\n${lines.join('\n')}`, { cause: error });
  }
}
