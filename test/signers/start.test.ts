/** Which signers a process starts with, as its settings and its two files say. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../platform/config.ts';
import type { ProcessRole } from '../../platform/config/role.ts';
import { createLocalRequestDesk } from '../../platform/request-desk.ts';
import { openRegistries } from '../../service/registries.ts';
import { KEY } from './support.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-'));
  await writeFile(join(folder, 'dev.key'), KEY, { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true }));

const local = {
  signer_key: 'dev',
  chain_family: 'evm',
  backend: 'local',
  private_key_file: 'dev.key',
};
const bare = {
  signer_key: 'treasury',
  chain_family: 'evm',
  key_id: 'alias/treasury',
  region: 'eu-central-1',
};

/** Starts it so far; answers the backends of its signers. */
async function backends(...of: Parameters<typeof opened>): Promise<readonly string[]> {
  const { signers, executors } = await opened(...of);
  const found = signers.list().map(({ backend }) => backend);
  await Promise.all([signers.close(), executors.close()]);
  return found;
}

function opened(
  signers: readonly object[],
  env: Readonly<Record<string, string>>,
  rpc_url?: string,
): ReturnType<typeof openRegistries> {
  return declared({ registry: { signers }, env, ...(rpc_url === undefined ? {} : { rpc_url }) });
}

/** What a process of the role opens of the two files. */
async function declared({
  registry: content,
  env,
  rpc_url = 'http://127.0.0.1:8545',
  venues: more = [],
  role = 'all',
}: {
  readonly registry: object;
  readonly env: Readonly<Record<string, string>>;
  readonly rpc_url?: string;
  readonly venues?: readonly object[];
  readonly role?: ProcessRole;
}): ReturnType<typeof openRegistries> {
  const [registry, venues] = [join(folder, 'registry.json'), join(folder, 'venues.json')];
  const chain = { venue_key: 'mainnet', provider: 'evm', chain_id: 1, rpc_url };
  await writeFile(registry, JSON.stringify(content));
  await writeFile(venues, JSON.stringify({ venues: [chain, ...more] }));
  const settings = {
    SVC_DATABASE_URL: 'postgresql://user:pass@127.0.0.1/db',
    SVC_AUTH_ENABLED: 'false',
    SVC_REGISTRY_FILE: registry,
    SVC_VENUES_FILE: venues,
    ...env,
  };
  return openRegistries(readConfig(settings, role), createLocalRequestDesk(), (key) =>
    Promise.resolve(`read ${key}`),
  );
}

describe('a process', () => {
  const development = { SVC_LOCAL_SIGNER_BACKEND: 'local' };

  it('starts with a key in a file in development alone, and says how to start elsewhere', async () => {
    expect(await backends([local], development)).toEqual(['local']);
    await expect(backends([local], {})).rejects.toThrow(
      /signers\[0\]\.backend: .*development only.*SVC_LOCAL_SIGNER_BACKEND=local/,
    );
    const far = 'https://rpc.example/v2';
    await expect(backends([local], development, far)).rejects.toThrow(
      /mainnet is not on this machine.*SVC_LOCAL_SIGNER_FORCED=true/,
    );
    const forced = { ...development, SVC_LOCAL_SIGNER_FORCED: 'true' };
    expect(await backends([local], forced, far)).toEqual(['local']);
  });

  it('takes the backend that an entry does not name from the setting', async () => {
    const managed = { SVC_LOCAL_SIGNER_BACKEND: 'managed_kms_evm' };
    expect(await backends([bare], managed, 'https://rpc.example')).toEqual(['managed_kms_evm']);
    await expect(backends([bare], {})).rejects.toThrow(/signers\[0\]\.backend: must be local/);
  });

  it('does not start with a backend that there is not', async () => {
    await expect(backends([], { SVC_LOCAL_SIGNER_BACKEND: 'vault' })).rejects.toThrow(
      'SVC_LOCAL_SIGNER_BACKEND: must be one of local, managed_kms_evm, remote, noop',
    );
    await expect(backends([{ ...bare, backend: 'vault' }], development)).rejects.toThrow(
      'signers[0].backend: must be local, managed_kms_evm, remote, noop',
    );
  });
});

test('an API process opens no secret of a signer, an executor or a venue, and reads through a worker', async () => {
  const away = { auth_token_file: 'away/token' };
  const registry = {
    signers: [
      { ...local, private_key_file: 'away/dev.key' },
      {
        signer_key: 'remote',
        chain_family: 'evm',
        backend: 'remote',
        url: 'http://127.0.0.1:9',
        ...away,
      },
      { signer_key: 'none', chain_family: 'cosmos', backend: 'noop' },
    ],
    executors: [
      {
        executor_key: 'a',
        kind: 'remote',
        url: 'http://127.0.0.1:9',
        action_types: ['noop'],
        ...away,
      },
      {
        executor_key: 'b',
        kind: 'task_queue',
        task_queue: 'b',
        action_types: ['noop'],
        result_secret_file: 'away/secret',
      },
    ],
  };
  const venues = [
    {
      venue_key: 'exchange',
      provider: 'ccxt',
      exchange: 'binance',
      account_role: 'master',
      account: 'main',
      credentials_file: 'away/credentials.json',
    },
  ];
  const files = { registry, venues, env: { SVC_LOCAL_SIGNER_BACKEND: 'local' } };
  for (const role of ['all', 'worker'] as const)
    await expect(declared({ ...files, role })).rejects.toThrow(
      /executors\[0\]\.auth_token_file[\s\S]*executors\[1\]\.result_secret_file[\s\S]*credentials_file/,
    );
  const { signers, executors, venues: opened } = await declared({ ...files, role: 'api' });
  expect(signers.list().map(({ signer_key }) => signer_key)).toEqual(['dev', 'remote', 'none']);
  expect(executors.describe('b')?.task_queue).toBe('b');
  expect(opened.fetchers.map(({ venue_key }) => venue_key)).toContain('exchange');
  expect(await signers.get('dev')?.identity()).toBe('read dev');
  expect(await signers.get('none')?.identity()).toBeNull();
  await expect(signers.get('dev')?.signEvmTypedData({})).rejects.toThrow('takes no work');
  await executors.close();
});
