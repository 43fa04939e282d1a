/** What a plan's nodes say of its way. */
import { fundRouteMetadata } from '../../../domain/fund-routes/metadata.ts';
import { node } from './build.ts';

const moving = { has_side_effect: true };

describe('transport family', () => {
  test.each([
    ['cex_withdrawal', ['cex_withdrawal', 'cex_deposit_observe']],
    ['onchain_transfer', ['evm_native_transfer', 'evm_erc20_transfer', 'evm_balance_observe']],
    ['bridge', ['cctp_burn', 'cctp_mint']],
    ['bridge', ['bridge_c_send', 'bridge_c_observe']],
    ['perp', ['perp_deposit']],
    ['perp', ['perp_withdraw', 'manual_gate', 'noop']],
    ['mixed', ['cex_withdrawal', 'evm_erc20_transfer']],
    ['mixed', ['noop']],
    ['cex_withdrawal', ['cex_internal_transfer', 'cex_withdrawal']],
  ])('%s of %j', (family, actions) => {
    expect(fundRouteMetadata(actions.map((action) => node(action))).transport_family).toBe(family);
  });

  test("a team's own action type is a family of its own only where it moves something", () => {
    expect(
      fundRouteMetadata([node('cex_withdrawal', moving), node('own_check')]).transport_family,
    ).toBe('cex_withdrawal');
    expect(
      fundRouteMetadata([node('cex_withdrawal', moving), node('own_wire', moving)])
        .transport_family,
    ).toBe('mixed');
    expect(fundRouteMetadata([node('toString', moving)]).transport_family).toBe('mixed');
  });

  test('the way back is not the way', () => {
    const back = node('evm_erc20_transfer', { node_kind: 'compensation', ...moving });
    expect(fundRouteMetadata([node('cex_withdrawal', moving), back]).transport_family).toBe(
      'cex_withdrawal',
    );
  });
});

describe('venues and asset', () => {
  test('the first source, the last destination, the first asset', () => {
    const nodes = [
      node('a'),
      node('b', { config: { venue: 'v1', destination_venue: 'd1', asset: 'USDC' } }),
      node('c', { config: { source_venue: 's2', destination_venue: 'd2', asset: 'USDT' } }),
      node('d', { config: { venue: 'v3' } }),
    ];
    expect(fundRouteMetadata(nodes)).toMatchObject({
      source_venue: 'v1',
      destination_venue: 'd2',
      asset: 'USDC',
    });
  });

  test('source_venue before venue in one node', () => {
    expect(
      fundRouteMetadata([node('a', { config: { venue: 'v', source_venue: 's' } })]).source_venue,
    ).toBe('s');
  });

  test('the venue of a deposit at the perps venue is where it leads to', () => {
    const into = node('perp_deposit', { config: { venue: 'perp' } });
    const venues = (source_venue: string | null, destination_venue: string | null) => ({
      source_venue,
      destination_venue,
    });
    expect(fundRouteMetadata([into])).toMatchObject(venues(null, 'perp'));
    const out = node('cex_withdrawal', { config: { venue: 'v' } });
    expect(fundRouteMetadata([out, into])).toMatchObject(venues('v', 'perp'));
    const named = { venue: 'perp', source_venue: 's', destination_venue: 'd' };
    expect(fundRouteMetadata([node('perp_deposit', { config: named })])).toMatchObject(
      venues('s', 'd'),
    );
    const from = node('perp_withdraw', { config: { venue: 'perp' } });
    expect(fundRouteMetadata([from])).toMatchObject(venues('perp', null));
  });

  test('null where nothing, or no text, is said', () => {
    const nothing = {
      transport_family: 'mixed',
      source_venue: null,
      destination_venue: null,
      asset: null,
    };
    expect(fundRouteMetadata([node('a')])).toEqual(nothing);
    expect(
      fundRouteMetadata([
        node('a', { config: { venue: 1, destination_venue: null, asset: ['USDC'] } }),
      ]),
    ).toEqual(nothing);
  });
});
