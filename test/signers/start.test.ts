/** Which signers a process starts with, as its settings and its two files say. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../platform/config.ts';
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
async function backends(
  signers: readonly object[],
  env: Readonly<Record<string, string>>,
  rpc_url = 'http://127.0.0.1:8545',
): Promise<readonly string[]> {
  const [registry, venues] = [join(folder, 'registry.json'), join(folder, 'venues.json')];
  const chain = { venue_key: 'mainnet', provider: 'evm', chain_id: 1, rpc_url };
  await writeFile(registry, JSON.stringify({ signers }));
  await writeFile(venues, JSON.stringify({ venues: [chain] }));
  const opened = await openRegistries(
    readConfig({
      SVC_DATABASE_URL: 'postgresql://user:pass@127.0.0.1/db',
      SVC_AUTH_ENABLED: 'false',
      SVC_REGISTRY_FILE: registry,
      SVC_VENUES_FILE: venues,
      ...env,
    }),
  );
  const found = opened.signers.list().map(({ backend }) => backend);
  await Promise.all([opened.signers.close(), opened.executors.close()]);
  return found;
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
