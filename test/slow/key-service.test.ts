/**
 * A signer whose key is in a key service and nowhere else: real signatures, by the thousand, and
 * whole movements through the API.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPublicClient,
  erc20Abi,
  http,
  isAddressEqual,
  keccak256,
  parseTransaction,
  toHex,
  type Address,
  type Hex,
} from 'viem';
import type { Signer } from '../../domain/signer.ts';
import { HIGHEST_S, readDerSignature } from '../../signers/ecdsa.ts';
import { openKms } from '../../signers/kms-client.ts';
import { createKmsSigner } from '../../signers/kms.ts';
import { verifiedTransaction, verifiedTypedData } from '../../signers/verify.ts';
import {
  EMULATED_CREDENTIALS,
  EMULATED_REGION,
  startKeyEmulator,
  type KeyEmulator,
} from '../support/key-emulator/emulator.ts';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { fund, nativePayment } from '../support/paying-signer.ts';
import { storeTemplate, transfer } from '../support/plans.ts';
import { TYPED, UNSIGNED } from '../signers/support.ts';

const ALIAS = 'alias/treasury';
const descriptor = { signer_key: 'kms-treasury', chain_family: 'evm', profile: 'kms' } as const;

let emulator: KeyEmulator;
let signer: Signer;
/** How many signatures of the service had the high s. */
const signatures = { high: 0, all: 0 };

beforeAll(async () => {
  Object.assign(process.env, EMULATED_CREDENTIALS);
  emulator = await startKeyEmulator();
  await emulator.createKey(ALIAS);
  const service = await openKms({
    key_id: ALIAS,
    region: EMULATED_REGION,
    endpoint: emulator.endpoint,
  });
  signer = createKmsSigner(descriptor, {
    ...service,
    sign: async (digest) => {
      const der = await service.sign(digest);
      signatures.all += 1;
      if ((readDerSignature(der)?.s ?? 0n) > HIGHEST_S) signatures.high += 1;
      return der;
    },
  });
}, 360_000);
afterAll(async () => {
  await signer?.close?.();
  await emulator?.close();
});

test('1,000 signatures are all valid, all by the address and all of the low s', async () => {
  const address = (await signer.identity()) ?? '';
  const low = { transactions: 0, typedData: 0 };
  for (let nonce = 0; nonce < 900; nonce += 1) {
    const unsigned = { ...UNSIGNED, value: String(nonce), data: keccak256(toHex(nonce)) };
    const { raw_tx } = await signer.signEvmTransaction(unsigned, nonce, address);
    await verifiedTransaction({ unsigned, nonce, address }, raw_tx);
    const { s } = parseTransaction(raw_tx as `0x02${string}`);
    if (s !== undefined && BigInt(s) > 0n && BigInt(s) <= HIGHEST_S) low.transactions += 1;
  }
  for (let amount = 0; amount < 100; amount += 1) {
    const payload = { ...TYPED, message: { amount: String(amount) } };
    const { signature } = await signer.signEvmTypedData(payload, address);
    await verifiedTypedData({ payload, address }, signature);
    if (BigInt(`0x${signature.slice(66, 130)}`) <= HIGHEST_S) low.typedData += 1;
  }
  expect(low).toEqual({ transactions: 900, typedData: 100 });
  expect(signatures.all).toBe(1_000);
  // Else the low form was never made, only found.
  expect(signatures.high).toBeGreaterThan(400);
  expect(signatures.high).toBeLessThan(600);
}, 240_000);

test('the emulator listens on this machine alone, and for keys alone', async () => {
  const port = Number(new URL(emulator.endpoint).port).toString(16).toUpperCase().padStart(4, '0');
  const sockets = ['tcp', 'tcp6'].flatMap((kind) =>
    readFileSync(`/proc/net/${kind}`, 'utf8').split('\n'),
  );
  // Local address and port, the other side's, and 0A: it listens.
  const listening = sockets.flatMap(
    (line) => new RegExp(`^\\s*\\d+: (\\S+):${port} \\S+ 0A `).exec(line)?.[1] ?? [],
  );
  expect(listening).toEqual(['0100007F']);
  const health = (await (await fetch(`${emulator.endpoint}/_ministack/health`)).json()) as object;
  expect(health).toMatchObject({ services: { kms: 'available' }, iot_mtls: 'disabled' });
});

describe('movements', () => {
  let own: OwnStack;
  let address: Address;
  beforeAll(async () => {
    own = await startOwnStack({
      signers: [
        {
          ...descriptor,
          backend: 'managed_kms_evm',
          key_id: ALIAS,
          region: EMULATED_REGION,
          endpoint: emulator.endpoint,
        },
      ],
      env: { ...EMULATED_CREDENTIALS, SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '1' },
    });
    address = (await observed()) as Address;
    await fund(own.stack.chain, address);
  }, 180_000);
  afterAll(() => own?.close(), 60_000);

  interface SignerRow {
    readonly signer_key: string;
    readonly backend: string;
    readonly observed_signer_address: string | null;
    readonly observed_at: string | null;
  }
  const rowOf = async (key: string): Promise<SignerRow | undefined> =>
    ((await own.api.expect(200, 'GET', '/signers')) as unknown as readonly SignerRow[]).find(
      ({ signer_key }) => signer_key === key,
    );
  const observed = (): Promise<string> =>
    eventually(async () => (await rowOf(descriptor.signer_key))?.observed_signer_address ?? null);
  const started = async (template: string, amount: string, asset: string): Promise<string> => {
    const movement = await own.api.create(template, { amount, intent: { asset } });
    await own.api.approve(movement);
    return movement.movement_id;
  };
  const sentBy = async (movementId: string): Promise<readonly { raw_tx: Hex; tx_hash: Hex }[]> =>
    own.query('SELECT raw_tx, tx_hash FROM evm_transactions WHERE movement_id = $1', [movementId]);

  test('of the own coin and of a token are mined, signed by the service alone', async () => {
    const { chain } = own.stack;
    const client = createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 });
    expect(await rowOf(descriptor.signer_key)).toMatchObject({
      backend: 'managed_kms_evm',
      observed_signer_address: await signer.identity(),
    });
    const coin = await started(
      await storeTemplate(own.api, [nativePayment(chain, 'kms')]),
      '0.25',
      'ETH',
    );
    const token = await started(
      await storeTemplate(own.api, [
        transfer(chain, 'token', {
          more: { signer_selector: { chain_family: 'evm', profile: 'kms' } },
        }),
      ]),
      '12.5',
      'USDC',
    );
    for (const id of [coin, token]) {
      await own.api.reaches(id, 'COMPLETED');
      const [sent, ...more] = await sentBy(id);
      expect(more).toEqual([]);
      const receipt = await client.getTransactionReceipt({ hash: sent?.tx_hash ?? '0x' });
      expect(receipt).toMatchObject({ status: 'success', from: address.toLowerCase() });
    }
    const usdc = await client.readContract({
      address: chain.tokens.USDC.address,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [address],
    });
    expect(usdc).toBe(987_500_000n);
    expect(await client.getTransactionCount({ address })).toBe(2);
  }, 120_000);

  test('a service that stands still holds up what it signs, and nothing else', async () => {
    const template = await storeTemplate(own.api, [
      nativePayment(own.stack.chain, 'kms', {
        retry_policy: { max_attempts: 20, initial_interval_seconds: 0.2, max_interval_seconds: 1 },
      }),
    ]);
    await emulator.freeze();
    let id: string;
    try {
      await eventually(async () =>
        (await rowOf(descriptor.signer_key))?.observed_signer_address === null ? true : null,
      );
      id = await started(template, '0.01', 'ETH');
      // The other signer is looked at as often as before.
      const before = (await rowOf('dev-treasury'))?.observed_at ?? '';
      await sleep(12_000);
      const after = await rowOf('dev-treasury');
      expect(after?.observed_signer_address).toBe(own.stack.chain.accounts.signer.address);
      expect((after?.observed_at ?? '') > before).toBe(true);
      expect(await sentBy(id)).toEqual([]);
      expect((await own.api.movement(id)).request_state).toBe('EXECUTING');
    } finally {
      await emulator.thaw();
    }
    await own.api.reaches(id, 'COMPLETED');
  }, 120_000);

  test('another key behind the alias signs nothing of a pinned signer', async () => {
    const { signer_key } = descriptor;
    await own.api.expect(200, 'PUT', `/signers/${signer_key}/expected-identity`, {
      expected_address: address,
      previous_expected_address: null,
      reason: 'the key of the ceremony',
    });
    const template = await storeTemplate(own.api, [nativePayment(own.stack.chain, 'kms')]);
    await emulator.createKey(ALIAS);
    // The other account has enough of everything: what keeps it from paying is the pin alone.
    await fund(own.stack.chain, (await signer.identity()) as Address);
    const id = await started(template, '0.01', 'ETH');
    const failed = await own.api.reaches(id, 'FAILED');
    expect(failed.nodes[0]?.error_code).toBe('SIGNER_IDENTITY_MISMATCH');
    expect(await sentBy(id)).toEqual([]);
    expect(isAddressEqual((await signer.identity()) as Address, address)).toBe(false);
  });
});
