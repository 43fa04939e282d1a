import type { ChainFinality } from '../../../domain/chains/finality.ts';
import {
  assetOf,
  NO_CHAINS,
  onChainPool,
  tokenMismatch,
  type ChainAssets,
} from '../../../domain/plan/tokens.ts';

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const BY_TAG: ChainFinality = {
  read: 'finalized_tag',
  confirmations: null,
  typical_age_seconds: 900,
  override_reason: null,
};
const CHAINS: ChainAssets = [
  {
    venue_key: 'mainnet',
    chain_id: 1,
    native_asset: 'ETH',
    tokens: [{ asset: 'USDC', address: USDC }],
    finality: BY_TAG,
    bridges: {},
    deposit_venues: [],
  },
  {
    venue_key: 'side',
    chain_id: 137,
    native_asset: 'POL',
    tokens: [],
    finality: BY_TAG,
    bridges: {},
    deposit_venues: [],
  },
];

describe('the asset of a token', () => {
  it('is what its chain lists it as, in any spelling of its address', () => {
    for (const address of [USDC, USDC.toLowerCase(), USDC.toUpperCase().replace('0X', '0x')])
      expect(assetOf(CHAINS, 1, address)).toBe('USDC');
  });
  it('is the own coin of the chain where no token is named', () => {
    expect(assetOf(CHAINS, 1, null)).toBe('ETH');
    expect(assetOf(CHAINS, 137, null)).toBe('POL');
  });
  it('is not known for a token that this chain does not list, nor for another chain', () => {
    expect(assetOf(CHAINS, 137, USDC)).toBeNull();
    expect(assetOf(CHAINS, 1, `${USDC.slice(0, -1)}9`)).toBeNull();
    expect(assetOf(CHAINS, 5, null)).toBeNull();
    expect(assetOf(NO_CHAINS, 1, null)).toBeNull();
  });
});

describe('the pool of a signer on a chain', () => {
  it('is its own, and none where the chain is not bound', () => {
    expect(onChainPool(CHAINS, 137, 'desk')).toEqual({
      venue_key: 'side:desk',
      account_type: 'SPOT',
    });
    expect(onChainPool(CHAINS, 5, 'desk')).toBeNull();
  });
});

describe('what a bridge sends', () => {
  const carried: ChainAssets = CHAINS.map((chain) => ({
    ...chain,
    bridges: {
      bridge_c: {
        endpoint_identity: '1:0x1',
        carriers: [{ asset: 'USDC', address: '0xOft' }],
      },
    },
  }));
  const send = (chains: ChainAssets, asset: string, source_chain_id: number) =>
    tokenMismatch(
      { node_key: 'send', action_type: 'bridge_c_send', asset, config: { source_chain_id } },
      chains,
    );
  const none = { node_key: 'send', token_address: null, token_asset: null };

  it('is what its chain lists as a token and as carried', () => {
    expect(send(carried, 'USDC', 1)).toBeNull();
    expect(send(CHAINS, 'USDC', 1)).toEqual({ ...none, asset: 'USDC', chain_id: 1 });
    expect(send(carried, 'USDC', 137)).toEqual({ ...none, asset: 'USDC', chain_id: 137 });
    expect(send(carried, 'ETH', 1)).toEqual({ ...none, asset: 'ETH', chain_id: 1 });
  });
});

describe('an observed balance', () => {
  const observer = (asset: string, config: object) =>
    tokenMismatch(
      {
        node_key: 'look',
        action_type: 'evm_balance_observe',
        asset,
        config: { chain_id: 1, ...config },
      },
      CHAINS,
    );

  it('is of the asset that its node says', () => {
    expect(observer('USDC', { token_address: USDC })).toBeNull();
    expect(observer('ETH', {})).toBeNull();
    expect(observer('WBTC', { token_address: USDC })).toMatchObject({
      asset: 'WBTC',
      token_asset: 'USDC',
    });
    expect(observer('USDC', {})).toMatchObject({ token_asset: 'ETH' });
    // A caller who names a token where the template waits for the coin.
    expect(observer('ETH', { token_address: USDC })).toMatchObject({ token_asset: 'USDC' });
    expect(observer('ETH', { token_address: 7 })).toMatchObject({ token_asset: null });
  });
});
