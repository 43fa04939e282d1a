import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  parseSignerConfigs,
  SignerConfigError,
  whyNotLocal,
  type SignerRules,
} from '../../signers/config.ts';
import { createNoopSigner } from '../../signers/noop.ts';
import { createSignerRegistry, openSigners } from '../../signers/registry.ts';

const local = {
  signer_key: 'dev',
  chain_family: 'evm',
  backend: 'local',
  private_key_file: 'dev.key',
};
const noop = { signer_key: 'none', chain_family: 'solana', profile: 'cold', backend: 'noop' };

const kms = {
  signer_key: 'kms',
  chain_family: 'evm',
  backend: 'managed_kms_evm',
  key_id: 'alias/treasury',
  region: 'eu-central-1',
};
const remote = {
  signer_key: 'far',
  chain_family: 'evm',
  backend: 'remote',
  url: 'https://signer.example/evm',
  auth_token_file: 'far.token',
};
const DEVELOPMENT = { backend: 'local', whyNotLocal: null } as const;
const ELSEWHERE = { backend: undefined, whyNotLocal: 'development only' } as const;

function faultsOf(
  signers: readonly unknown[],
  rules: SignerRules = DEVELOPMENT,
): readonly string[] {
  try {
    parseSignerConfigs(signers, rules);
  } catch (error) {
    if (error instanceof SignerConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the signers of the registry file', () => {
  it('are read as written', () => {
    expect(parseSignerConfigs([local, noop, kms, remote], DEVELOPMENT)).toEqual([
      local,
      noop,
      kms,
      { ...remote, timeout_seconds: 4 },
    ]);
    expect(parseSignerConfigs([], ELSEWHERE)).toEqual([]);
  });

  it('may be local only where that is allowed', () => {
    expect(faultsOf([noop, local], ELSEWHERE)).toEqual([
      expect.stringMatching(/^signers\[1\]\.backend: .*development only/),
    ]);
  });

  it('that name no backend are of the one that the setting names', () => {
    const { backend: _none, ...bare } = kms;
    const of = (backend: SignerRules['backend']) => ({ backend, whyNotLocal: null });
    expect(parseSignerConfigs([bare, noop], of('managed_kms_evm'))).toEqual([kms, noop]);
    expect(faultsOf([bare], of(undefined))).toEqual([
      'signers[0].backend: must be local, managed_kms_evm, remote, noop',
    ]);
    expect(faultsOf([bare], of('remote'))[0]).toMatch(/^signers\[0\]/);
  });

  it('are refused with every fault at once, each with its place', () => {
    const faults = faultsOf([
      { ...local, private_key: '0x1' },
      { ...noop, chain_family: 'evm' },
      { ...kms, region: undefined },
      { ...kms, endpoint: 'http://user:pass@kms.example' },
      { ...remote, url: 'http://signer.example' },
      { ...remote, timeout_seconds: 0 },
      { ...remote, chain_family: 'solana' },
      { signer_key: 'odd', chain_family: 'evm', backend: 'paper' },
      { ...local, signer_key: '' },
    ]);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'signers[0]',
      'signers[1].chain_family',
      'signers[2].region',
      'signers[3].endpoint',
      'signers[4].url',
      'signers[5].timeout_seconds',
      'signers[6].chain_family',
      'signers[7].backend',
      'signers[8].signer_key',
    ]);
    expect(faults[4]).toContain('must be https, unless the proxy is on this machine');
  });

  it('are refused when a key is used twice', () => {
    expect(faultsOf([local, { ...noop, signer_key: 'dev' }])).toEqual([
      'signers[1].signer_key: dev is already used above',
    ]);
  });
});

describe('keys in files', () => {
  const at = (rpc_url: string) => ({ venue_key: 'mainnet', rpc_url });
  const here = {
    backend: 'local',
    forced: false,
    host: '127.0.0.1',
    chains: [at('http://127.0.0.1:8545'), at('http://[::1]:8545'), at('http://localhost:1')],
  } as const;
  const far = { ...here, chains: [...here.chains, at('https://rpc.example/v2/a-key-of-ours')] };
  const open = { ...here, host: '0.0.0.0' };

  it('are for development alone, which has to be said', () => {
    expect(whyNotLocal(here)).toBeNull();
    for (const backend of [undefined, 'managed_kms_evm', 'remote', 'noop'] as const)
      expect(whyNotLocal({ ...here, backend, forced: true })).toContain(
        'SVC_LOCAL_SIGNER_BACKEND=local',
      );
  });

  it('are refused where a chain, or who may call, is beyond this machine, unless forced', () => {
    expect(whyNotLocal(far)).toMatch(/the chain mainnet.*SVC_LOCAL_SIGNER_FORCED=true/);
    expect(whyNotLocal(far)).not.toContain('a-key-of-ours');
    expect(whyNotLocal(open)).toMatch(/listens on 0\.0\.0\.0.*SVC_LOCAL_SIGNER_FORCED=true/);
    for (const each of [far, open]) expect(whyNotLocal({ ...each, forced: true })).toBeNull();
  });
});

describe('signers that are elsewhere', () => {
  it('are opened without a call, and the token file must exist', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signers-'));
    try {
      const configs = parseSignerConfigs([kms, remote], ELSEWHERE);
      await expect(openSigners(configs, { baseDir: folder })).rejects.toThrow(
        /signers\[1\]: auth_token_file .*far\.token cannot be read/,
      );
      await writeFile(join(folder, 'far.token'), 'token');
      const registry = createSignerRegistry(await openSigners(configs, { baseDir: folder }));
      expect(registry.list()).toEqual([
        { signer_key: 'kms', chain_family: 'evm', backend: 'managed_kms_evm' },
        { signer_key: 'far', chain_family: 'evm', backend: 'remote' },
      ]);
      await registry.close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a noop signer', () => {
  it('has no identity and signs nothing', async () => {
    const signer = createNoopSigner({ signer_key: 'none', chain_family: 'solana' });
    expect(await signer.identity()).toBeNull();
    await expect(signer.signEvmTypedData({})).rejects.toThrow('noop signer');
  });
});

describe('the registry', () => {
  it('lists its signers and finds them by key', async () => {
    const signers = await openSigners(parseSignerConfigs([noop], ELSEWHERE), {
      baseDir: '.',
    });
    const registry = createSignerRegistry(signers);
    expect(registry.list()).toEqual([
      { signer_key: 'none', chain_family: 'solana', profile: 'cold', backend: 'noop' },
    ]);
    // Bindings are kept for the very same list.
    expect(registry.list()).toBe(registry.list());
    expect(Object.isFrozen(registry.list())).toBe(true);
    expect(registry.get('none')).toBe(signers[0]);
    expect(registry.get('other')).toBeUndefined();
  });

  it('refuses two signers of one key', () => {
    const signer = createNoopSigner({ signer_key: 'none', chain_family: 'solana' });
    expect(() => createSignerRegistry([signer, signer])).toThrow('none is used by two signers');
  });
});
