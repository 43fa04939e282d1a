import { signerView } from '../../../api/registries/schema.ts';
import { signerViewOf } from '../../../api/registries/view.ts';
import type { LaneRaise } from '../../../domain/lanes/caps.ts';
import type { LaneView } from '../../../store/lanes.ts';
import { chainAssets, parseVenueBindings } from '../../../venues/bindings.ts';

const lane = (chain_id: number): LaneView => ({
  chain_id,
  address: '0xa',
  signer_key: 'treasury',
  next_nonce: 1,
  mined_nonce: null,
  final_nonce: null,
  seen_at: null,
  open_nonces: 0,
  oldest_open_seconds: null,
  unfinal_nonces: 0,
  stuck: null,
  raise: null,
});
const reason = 'its endpoints have no tags';
const chains = chainAssets(
  parseVenueBindings({
    venues: [
      {
        venue_key: 'mainnet',
        provider: 'evm',
        chain_id: 1,
        rpc_url: 'http://127.0.0.1:1',
        finality_confirmations: 64,
        finality_override: { reason },
      },
    ],
  }),
);

test('a lane says how its chain becomes final, with the reason why sooner than is known', () => {
  const view = signerViewOf('treasury', undefined, undefined, {
    lanes: [lane(1), lane(2)],
    chains,
  });
  expect(signerView.parse(view).lanes.map(({ finality }) => finality)).toEqual([
    {
      read: 'confirmations',
      confirmations: 64,
      typical_age_seconds: 900,
      override_reason: reason,
    },
    null,
  ]);
});

test('a lane shows the caps that are in force, and who raised them until when', () => {
  const raise: LaneRaise = {
    max_gas_cost_wei: '70000000000000000',
    max_fee_per_gas_gwei: null,
    raised_at: '2026-11-21T03:35:00.000Z',
    until: '2026-11-21T04:35:00.000Z',
    reason: 'gas is dear',
    raised_by: { type: 'key', client_id: null, key_id: 'k' },
  };
  const lanes = [{ ...lane(1), raise }, lane(1), { ...lane(2), raise }];
  const view = signerViewOf('treasury', undefined, undefined, { lanes, chains });
  const chain = { max_gas_cost_wei: '50000000000000000', max_fee_per_gas_gwei: null };
  expect(signerView.parse(view).lanes).toEqual([
    expect.objectContaining({
      raise,
      caps: { ...chain, max_gas_cost_wei: raise.max_gas_cost_wei },
    }),
    expect.objectContaining({ raise: null, caps: chain }),
    expect.objectContaining({ raise, caps: null }),
  ]);
});
