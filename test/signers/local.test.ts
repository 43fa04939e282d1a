import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import type { SignerConfig } from '../../signers/config.ts';
import { createLocalSigner } from '../../signers/local.ts';
import { openSigners } from '../../signers/registry.ts';

const KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a';
const { address: ADDRESS } = privateKeyToAccount(KEY);
const identity = { signer_key: 'dev', chain_family: 'evm' } as const;
const unsigned: EvmUnsignedTransaction = {
  chain_id: 31_337,
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  value: '1000000000000000000000',
  data: '0x',
  gas: '21000',
  max_fee_per_gas: '2000000000',
  max_priority_fee_per_gas: '1000000000',
};

describe('a local signer', () => {
  it('signs the transaction with the nonce of the input', async () => {
    const signer = createLocalSigner(identity, KEY);
    const { raw_tx, tx_hash } = await signer.signEvmTransaction(unsigned, 7);
    expect(parseTransaction(raw_tx as `0x02${string}`)).toMatchObject({
      chainId: 31_337,
      nonce: 7,
      value: 10n ** 21n,
      gas: 21_000n,
    });
    expect(
      await recoverTransactionAddress({ serializedTransaction: raw_tx as `0x02${string}` }),
    ).toBe(ADDRESS);
    expect(tx_hash).toBe(keccak256(raw_tx as Hex));
  });

  it('signs the same bytes each time', async () => {
    const signer = createLocalSigner(identity, KEY);
    expect(await signer.signEvmTransaction(unsigned, 7)).toEqual(
      await signer.signEvmTransaction(unsigned, 7),
    );
  });

  it('tells its address', async () => {
    expect(await createLocalSigner(identity, KEY).identity()).toBe(ADDRESS);
  });

  it('signs typed data', async () => {
    const payload = {
      domain: { name: 'Test', chainId: 31_337 },
      types: { Order: [{ name: 'amount', type: 'uint256' }] },
      primaryType: 'Order',
      message: { amount: '5' },
    };
    const { signature } = await createLocalSigner(identity, KEY).signEvmTypedData(payload);
    const signed = {
      domain: payload.domain,
      types: payload.types,
      primaryType: 'Order',
      message: { amount: 5n },
    } as const;
    expect(await recoverTypedDataAddress({ ...signed, signature: signature as Hex })).toBe(ADDRESS);
    await expect(
      createLocalSigner(identity, KEY).signEvmTypedData({ message: {} }),
    ).rejects.toThrow('typed data needs');
  });

  it('refuses a transaction with fields that were not checked, and a nonce that is none', async () => {
    const signer = createLocalSigner(identity, KEY);
    await expect(signer.signEvmTransaction({ ...unsigned, ...{ nonce: 3 } }, 7)).rejects.toThrow(
      'malformed',
    );
    await expect(signer.signEvmTransaction({ ...unsigned, value: '1e18' }, 7)).rejects.toThrow(
      'value',
    );
    await expect(signer.signEvmTransaction(unsigned, 1.5)).rejects.toThrow('nonce');
  });
});

describe('the private key never shows', () => {
  const digits = KEY.slice(2);
  const shown = (value: unknown) =>
    `${inspect(value, { depth: 20, showHidden: true, getters: true })}${JSON.stringify(value) ?? ''}${String(value)}`;

  it('in an inspection or JSON of a signer', () => {
    expect(shown(createLocalSigner(identity, KEY))).not.toContain(digits);
  });

  test.each([
    ['without prefix', digits],
    ['too long', `${KEY}00`],
    ['too short', KEY.slice(0, -2)],
    ['above the order of the curve', `0x${'f'.repeat(64)}`],
    ['zero', `0x${'0'.repeat(64)}`],
  ])('in the error about a key that is %s', (_name, bad) => {
    let error: unknown;
    try {
      createLocalSigner(identity, bad);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(Error);
    expect(shown(error)).toContain('signer dev');
    expect(shown(error)).not.toContain(bad.replace('0x', ''));
  });

  it('in the error about a transaction that cannot be signed', async () => {
    const error: unknown = await createLocalSigner(identity, KEY)
      .signEvmTransaction({ ...unsigned, max_fee_per_gas: '1' }, 7)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(shown(error)).not.toContain(digits);
  });
});

describe('a key file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signers-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const opened = async (content: string, mode: number) => {
    const file = join(folder, 'key');
    await writeFile(file, content);
    await chmod(file, mode);
    const config: SignerConfig = { ...identity, backend: 'local', private_key_file: 'key' };
    return openSigners([config], { baseDir: folder });
  };

  it('is read when only its owner can', async () => {
    for (const mode of [0o600, 0o400]) {
      const [signer] = await opened(`${KEY}\n`, mode);
      expect(await signer?.identity()).toBe(ADDRESS);
      await chmod(join(folder, 'key'), 0o600);
    }
  });

  it('is refused when others can read it, and the error tells the mode but not the key', async () => {
    for (const mode of [0o644, 0o640, 0o604, 0o660]) {
      const error: unknown = await opened(KEY, mode).catch((thrown: unknown) => thrown);
      expect(String(error)).toContain(`has mode ${mode.toString(8)}`);
      expect(String(error)).not.toContain(KEY.slice(2));
    }
  });

  it('is refused when it holds no key or does not exist', async () => {
    await expect(opened(KEY.slice(2), 0o600)).rejects.toThrow('must hold 0x and 64 hex digits');
    await expect(opened(`0x${'f'.repeat(64)}`, 0o600)).rejects.toThrow('secp256k1');
    const missing: SignerConfig = { ...identity, backend: 'local', private_key_file: 'nowhere' };
    await expect(openSigners([missing, missing], { baseDir: folder })).rejects.toThrow(
      /signers\[0\].*ENOENT[\s\S]*signers\[1\]/,
    );
  });
});
