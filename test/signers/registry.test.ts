import { describe, expect, it } from '@jest/globals';
import { parseSignerConfigs, SignerConfigError } from '../../signers/config.ts';
import { createNoopSigner } from '../../signers/noop.ts';
import { createSignerRegistry, openSigners } from '../../signers/registry.ts';

const local = {
  signer_key: 'dev',
  chain_family: 'evm',
  backend: 'local',
  private_key_file: 'dev.key',
};
const noop = { signer_key: 'none', chain_family: 'solana', profile: 'cold', backend: 'noop' };

function faultsOf(signers: unknown, allowLocal = true): readonly string[] {
  try {
    parseSignerConfigs(signers, { allowLocal });
  } catch (error) {
    if (error instanceof SignerConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the signers of the registry file', () => {
  it('are read as written', () => {
    expect(parseSignerConfigs([local, noop], { allowLocal: true })).toEqual([local, noop]);
    expect(parseSignerConfigs([], { allowLocal: false })).toEqual([]);
  });

  it('may be local only where that is allowed', () => {
    expect(faultsOf([noop, local], false)).toEqual([
      expect.stringMatching(/^signers\[1\]\.backend: .*development only/),
    ]);
  });

  it('are refused with every fault at once, each with its place', () => {
    const faults = faultsOf([
      { ...local, private_key: '0x1' },
      { ...noop, chain_family: 'evm' },
      { signer_key: 'kms', chain_family: 'evm', backend: 'managed_kms_evm', key_id: 'a' },
      { signer_key: 'far', chain_family: 'evm', backend: 'remote', url: 'https://signer.example' },
      { signer_key: 'odd', chain_family: 'evm', backend: 'paper' },
      { ...local, signer_key: '' },
    ]);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'signers[0]',
      'signers[1].chain_family',
      'signers[2].backend',
      'signers[3].backend',
      'signers[4].backend',
      'signers[5].signer_key',
    ]);
    expect(faults[2]).toContain('not available in this release');
  });

  it('are refused when a key is used twice', () => {
    expect(faultsOf([local, { ...noop, signer_key: 'dev' }])).toEqual([
      'signers[1].signer_key: dev is already used above',
    ]);
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
    const signers = await openSigners(parseSignerConfigs([noop], { allowLocal: false }), {
      baseDir: '.',
    });
    const registry = createSignerRegistry(signers);
    expect(registry.list()).toEqual([
      { signer_key: 'none', chain_family: 'solana', profile: 'cold', backend: 'noop' },
    ]);
    expect(registry.get('none')).toBe(signers[0]);
    expect(registry.get('other')).toBeUndefined();
  });

  it('refuses two signers of one key', () => {
    const signer = createNoopSigner({ signer_key: 'none', chain_family: 'solana' });
    expect(() => createSignerRegistry([signer, signer])).toThrow('none is used by two signers');
  });
});
