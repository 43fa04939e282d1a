import { expect, test } from '@jest/globals';
import { signerView } from '../../../api/registries/schema.ts';
import { signerViewOf } from '../../../api/registries/view.ts';
import { chainAssets, parseVenueBindings } from '../../../venues/bindings.ts';

const lane = (chain_id: number) => ({
  ...{ chain_id, address: '0xa', signer_key: 'treasury', next_nonce: 1 },
  ...{ mined_nonce: null, final_nonce: null, seen_at: null },
  ...{ open_nonces: 0, oldest_open_seconds: null, unfinal_nonces: 0, stuck: null },
});
const reason = 'its endpoints have no tags';
const chains = chainAssets(
  parseVenueBindings({
    venues: [
      {
        ...{ venue_key: 'mainnet', provider: 'evm', chain_id: 1, rpc_url: 'http://127.0.0.1:1' },
        ...{ finality_confirmations: 64, finality_override: { reason } },
      },
    ],
  }),
);

test('a lane says how its chain becomes final, with the reason why sooner than is known', () => {
  const view = signerViewOf('treasury', undefined, undefined, {
    ...{ lanes: [lane(1), lane(2)], chains },
  });
  expect(signerView.parse(view).lanes.map(({ finality }) => finality)).toEqual([
    {
      ...{ read: 'confirmations', confirmations: 64 },
      ...{ typical_age_seconds: 900, override_reason: reason },
    },
    null,
  ]);
});
