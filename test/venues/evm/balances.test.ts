import { pad, toHex } from 'viem';
import type { BalanceFetcher, PoolBalance } from '../../../domain/balances.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { createLocalSigner } from '../../../signers/local.ts';
import { createNoopSigner } from '../../../signers/noop.ts';
import { parseVenueBindings } from '../../../venues/bindings.ts';
import { openVenues } from '../../../venues/open.ts';
import { CHAIN_ID, startChain } from './support/chain.ts';
import { startLiar } from './support/liar.ts';
import { call, type Account } from './support/node.ts';
import { started } from '../../support/started.ts';

const NO_TOKEN = '0x00000000000000000000000000000000000000aa';
const chain = started(() => startChain());

function fetchersOf(account: Account, venue: object = {}): readonly BalanceFetcher[] {
  const common = {
    venue_key: 'local',
    provider: 'evm',
    chain_id: CHAIN_ID,
    rpc_url: chain.url,
    native_asset: 'GO',
  };
  const bindings = parseVenueBindings({
    venues: [
      { ...common, tokens: [{ asset: 'TST', address: chain.token, decimals: 6 }], ...venue },
    ],
  });
  const signers = [
    createLocalSigner({ signer_key: 'desk', chain_family: 'evm' }, account.key),
    createNoopSigner({ signer_key: 'elsewhere', chain_family: 'solana' }),
  ];
  return openVenues(bindings, signers, createLocalRequestDesk()).fetchers;
}

async function fetched(
  account: Account,
  venue: object = {},
): Promise<Readonly<Record<string, PoolBalance>>> {
  const [only, ...others] = fetchersOf(account, venue);
  expect(others).toEqual([]);
  const { pools } = await only!.fetch(call());
  return Object.fromEntries(pools.map((pool) => [pool.asset, pool]));
}

const shown = (amount: string | null) => ({
  account_type: 'SPOT',
  available: amount,
  withdrawable: amount,
  total: amount,
});

test('a signer of the family has a pool on the chain, exact to the last unit', async () => {
  const account = await chain.account({ eth: '1.000000000000000001', tokens: '1000.000001' });
  expect(
    fetchersOf(account).map(({ venue_key, interval_seconds }) => [venue_key, interval_seconds]),
  ).toEqual([['local:desk', 30]]);
  const pools = await fetched(account);
  expect(Object.keys(pools)).toEqual(['GO', 'TST']);
  expect(pools['GO']).toMatchObject(shown('1.000000000000000001'));
  expect(pools['TST']).toMatchObject({
    ...shown('1000.000001'),
    details: { block_number: expect.stringMatching(/^[1-9]/) },
  });
});

test('what has just arrived is not to be promised before its confirmations, and what has left is gone at once', async () => {
  const account = await chain.account({ tokens: '100' });
  await chain.client.mine({ blocks: 5 });
  await chain.client.setBalance({ address: account.address, value: 5n * 10n ** 18n });
  await chain.client.mine({ blocks: 1 });
  const confirmed = { confirmations: 4 };
  expect((await fetched(account, confirmed))['GO']).toMatchObject({
    available: '5',
    total: '5',
    withdrawable: '1',
  });
  await chain.client.mine({ blocks: 3 });
  expect((await fetched(account, confirmed))['GO']).toMatchObject({
    available: '5',
    total: '5',
    withdrawable: '5',
  });
  await chain.client.setBalance({ address: account.address, value: 2n * 10n ** 18n });
  await chain.client.mine({ blocks: 1 });
  expect((await fetched(account, confirmed))['GO']).toMatchObject({
    available: '2',
    total: '2',
    withdrawable: '2',
  });
});

test('a token that is wrongly listed promises nothing and hides nothing', async () => {
  const account = await chain.account({ tokens: '3' });
  const tokens = [
    { asset: 'NONE', address: NO_TOKEN },
    { asset: 'TST', address: chain.token },
  ];
  expect(await fetched(account, { tokens })).toMatchObject({
    GO: shown('1'),
    NONE: { ...shown(null), details: { problem: 'TOKEN_INVALID' } },
    TST: shown('3'),
  });
  expect(
    await fetched(account, { tokens: [{ asset: 'TST', address: chain.token, decimals: 18 }] }),
  ).toMatchObject({
    GO: shown('1'),
    TST: { ...shown(null), details: { problem: 'TOKEN_DECIMALS_MISMATCH' } },
  });
});

test('a token in whose decimals endpoints differ hides nothing either', async () => {
  const account = await chain.account({ tokens: '3' });
  const [one, other] = await Promise.all([startLiar(chain.url), startLiar(chain.url)]);
  try {
    other.twist(({ method, params }, answer) =>
      method === 'eth_call' &&
      (params[0] as { readonly data: string }).data.startsWith('0x313ce567')
        ? pad(toHex(8), { size: 32 })
        : answer,
    );
    const venue = { rpc_url: one.url, more_rpc_urls: [other.url] };
    const tokens = [{ asset: 'TST', address: chain.token }];
    expect(await fetched(account, { ...venue, tokens })).toMatchObject({
      GO: shown('1'),
      TST: { ...shown(null), details: { problem: 'TOKEN_DECIMALS_MISMATCH' } },
    });
  } finally {
    await Promise.all([one.stop(), other.stop()]);
  }
});

test('an endpoint that is away, or of another chain, gives none at all', async () => {
  const account = await chain.account();
  await expect(fetched(account, { rpc_url: 'http://127.0.0.1:9' })).rejects.toMatchObject({
    code: 'EVM_RPC_UNREACHABLE',
  });
  const elsewhere = { chain_id: 7, finality: 'finalized_tag' };
  await expect(fetched(account, elsewhere)).rejects.toMatchObject({ code: 'CHAIN_ID_MISMATCH' });
});
