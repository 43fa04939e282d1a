/** What the simulated perps venue makes of signatures and nonces, without a chain. */
import { createL1ActionHash } from '@nktkas/hyperliquid/signing';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { envelopeSchema } from '../../dev/simulators/perp/actions.ts';
import { emptyBook } from '../../dev/simulators/perp/book.ts';
import { readUsd, writeUsd } from '../../dev/simulators/perp/money.ts';
import { pack } from '../../dev/simulators/perp/msgpack.ts';
import { MARGIN_MS, refusalOfNonce } from '../../dev/simulators/perp/nonces.ts';
import { recoverSigner, type Network } from '../../dev/simulators/perp/signing.ts';
import { low } from './perp-stack.ts';

// Vectors of `tests/signing_test.py` of github.com/hyperliquid-dex/hyperliquid-python-sdk.
const SIGNER = privateKeyToAccount(
  '0x0123456789012345678901234567890123456789012345678901234567890123',
);
const toSomeone = {
  signatureChainId: '0x66eee',
  hyperliquidChain: 'Testnet',
  amount: '1',
  destination: '0x5e9ee1089755c3435139848e47e6635505d5a13a',
  time: 1_687_816_341_423,
};
const subAccountTransfer = {
  usd: 10,
  isDeposit: true,
  type: 'subAccountTransfer',
  subAccountUser: '0x1D9470D4B963F552e6F671a81619d395877Bf409',
};
const VECTORS: readonly [name: string, network: Network, envelope: object][] = [
  [
    'a withdrawal',
    'Testnet',
    {
      action: { type: 'withdraw3', ...toSomeone },
      nonce: toSomeone.time,
      signature: {
        r: '0x8363524c799e90ce9bc41022f7c39b4e9bdba786e5f9c72b20e43e1462c37cf9',
        s: '0x58b1411a775938b83e29182e8ef74975f9054c8e97ebf5ec2dc8d51bfc893881',
        v: 28,
      },
    },
  ],
  [
    'a send',
    'Testnet',
    {
      action: { type: 'usdSend', ...toSomeone },
      nonce: toSomeone.time,
      signature: {
        r: '0x637b37dd731507cdd24f46532ca8ba6eec616952c56218baeff04144e4a77073',
        s: '0x11a6a24900e6e314136d2592e2f8d502cd89b7c15b198e1bee043c9589f9fad7',
        v: 27,
      },
    },
  ],
  [
    'an L1 action, with its keys in another order and an address in mixed case',
    'Mainnet',
    {
      action: subAccountTransfer,
      nonce: 0,
      signature: {
        r: '0x43592d7c6c7d816ece2e206f174be61249d651944932b13343f4d13f306ae602',
        s: '0x71a926cb5c9a7c01c3359ec4c4c34c16ff8107d610994d4de0e6430e5cc0f4c9',
        v: 28,
      },
      vaultAddress: null,
      expiresAfter: null,
    },
  ],
  [
    'a signature without its leading zero',
    'Mainnet',
    {
      action: { type: 'createSubAccount', name: 'example' },
      nonce: 0,
      signature: {
        r: '0x51096fe3239421d16b671e192f574ae24ae14329099b6db28e479b86cdd6caa7',
        s: '0xb71f7d293af92d3772572afb8b102d167a7cef7473388286bc01f52a5c5b423',
        v: 27,
      },
    },
  ],
];

test.each(VECTORS)('%s is recovered', async (_name, network, envelope) => {
  const read = envelopeSchema.parse(envelope);
  expect(await recoverSigner(read, network)).toBe(low(SIGNER.address));
  const other = { ...read, nonce: read.nonce + 1 };
  // The nonce around a user-signed action is not signed; that of others is.
  const stays = 'signatureChainId' in read.action;
  expect((await recoverSigner(other, network)) === low(SIGNER.address)).toBe(stays);
});

test('what is no signature has no signer', async () => {
  const signature = { r: `0x${'f'.repeat(64)}`, s: '0x1', v: 27 };
  const envelope = envelopeSchema.parse({ action: { type: 'noop' }, nonce: 1, signature });
  expect(await recoverSigner(envelope, 'Testnet')).toBeNull();
});

test.each([0, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, 2 ** 53 - 1])(
  'actions are packed as the client of others packs them, with %d',
  (usd) => {
    const action = { type: 'subAccountTransfer', isDeposit: false, usd, long: 'é'.repeat(40) };
    const hash = keccak256(Buffer.concat([pack(action), Buffer.alloc(9)]));
    expect(hash).toBe(createL1ActionHash({ action, nonce: 0 }));
  },
);

test('amounts are exact', () => {
  expect(readUsd('9007199254740993.000001')).toBe(9_007_199_254_740_993_000_001n);
  expect(readUsd('1.10000000')).toBe(1_100_000n);
  for (const text of ['', '.5', '1.', '-1', '1e3', ' 1']) expect(readUsd(text)).toBe('not_decimal');
  expect(readUsd('0.0000001')).toBe('too_precise');
  expect([0n, 50_000_000n, 1n, -1_500_000n].map(writeUsd)).toEqual([
    '0.0',
    '50.0',
    '0.000001',
    '-1.5',
  ]);
});

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const signer = low(SIGNER.address);
function ask(nonce: number, seen: readonly number[] = []): string | null {
  const book = emptyBook();
  book.nonces.set(signer, new Set(seen));
  return refusalOfNonce(book, { signer, nonce, now: NOW });
}

test('a nonce is admitted within the window, and its edges are not', () => {
  const [least, most] = [NOW - 2 * DAY_MS + MARGIN_MS, NOW + DAY_MS - MARGIN_MS];
  expect([least + 1, NOW, most - 1].map((nonce) => ask(nonce))).toEqual([null, null, null]);
  expect(ask(least)).toBe(`Invalid nonce: nonce too low ${String(least)} < ${String(least)}`);
  expect(ask(most)).toBe(`Invalid nonce: nonce too high ${String(most)} > ${String(most)}`);
  // Outside the window nothing is known of the past.
  expect(ask(least - 5, [least - 5])).toContain('too low');
});

test('below the hundredth highest a nonce is too low, unless it was seen', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => NOW + 2 * index);
  expect(ask(NOW - 1, hundred.slice(1))).toBeNull();
  expect(ask(NOW - 1, hundred)).toBe(
    `Invalid nonce: nonce too low ${String(NOW - 1)} < ${String(NOW)}`,
  );
  expect(ask(NOW + 1, hundred)).toBeNull();
  expect(ask(NOW - 1, [NOW - 1, ...hundred])).toBe(
    `Invalid nonce: duplicate nonce ${String(NOW - 1)}`,
  );
});
