/** What an authority covers, at its edges, and what no administrator gets past. */
import {
  beyondLimits,
  uncoveredBy,
  type AuthorityLimits,
  type Grant,
} from '../../../domain/agents/authority.ts';
import { blocking, PROPOSAL_REASONS, type Proposal } from '../../../domain/agents/proposal.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { CompiledNode } from '../../../domain/plan/types.ts';
import { BOUND, PROPOSALS } from './world.ts';

const LIMITS: AuthorityLimits = {
  max_notional: '10',
  allowed_assets: ['USDC'],
  allowed_chains: ['near', '22'],
  max_ttl_seconds: 60,
};
const reasonsOf = (more: Partial<Proposal>, limits: Partial<AuthorityLimits> = {}) =>
  beyondLimits({ ...(PROPOSALS[2] as Proposal), ...more }, { ...LIMITS, ...limits }, BOUND.chains);

describe('a proposal', () => {
  test.each<[string, Partial<Proposal>, Partial<AuthorityLimits>, readonly string[]]>([
    ['by another name of its chain', { source_chain: '11', destination_chain: 'far' }, {}, []],
    ['whose source alone is not allowed', {}, { allowed_chains: ['far'] }, ['chain_not_allowed']],
    ['whose end alone is not allowed', {}, { allowed_chains: ['near'] }, ['chain_not_allowed']],
    ['of a chain that is written otherwise', { source_chain: 'Near' }, {}, ['chain_not_allowed']],
    ['of all that is allowed', { requested_notional: '10', ttl_seconds: 60 }, {}, []],
    ['of a second too much', { ttl_seconds: 61 }, {}, ['ttl_exceeded']],
    ['of any time without a limit', { ttl_seconds: 31_536_000 }, { max_ttl_seconds: null }, []],
    [
      'of too much by the last digit',
      { requested_notional: '10.000000000000000001' },
      {},
      ['notional_exceeded'],
    ],
  ])('%s', (_, more, limits, reasons) => {
    expect(reasonsOf(more, limits)).toEqual(reasons);
  });

  it('is promoted past the authority’s own four limits, and past nothing else', () => {
    expect(blocking(PROPOSAL_REASONS)).toEqual([
      'address_not_allowlisted',
      'address_in_cooling_period',
      'signer_profile_unresolved',
      'bridge_path_not_ready',
      'no_blueprint',
    ]);
  });
});

describe('a plan', () => {
  const sending = (action_type: string, config: JsonObject, asset = 'USDC') =>
    ({ node_key: 'a', action_type, asset, config, sends: true }) as unknown as CompiledNode;
  const codes = (
    node: CompiledNode,
    limits: Partial<AuthorityLimits>,
    grant: Grant | null = null,
  ) =>
    uncoveredBy(
      { nodes: [node], outflow: [{ asset: node.asset, amount: '10' }] },
      { ...LIMITS, ...limits },
      grant,
      BOUND.chains,
    ).map(({ code }) => code);

  test.each<[string, string, JsonObject, readonly string[]]>([
    ['a network that is not named', 'cex_withdrawal', { network: 'trc20', chain_id: 11 }, ['no']],
    ['a network that is', 'cex_withdrawal', { network: 'erc20', chain_id: 99 }, []],
    ['a network of another case', 'cex_withdrawal', { network: 'ERC20', chain_id: 11 }, ['no']],
    ['a source that is not named', 'cctp_burn', burn(33, 22), ['no']],
    ['an end that is not named', 'cctp_burn', burn(11, 33), ['no']],
    ['two that are', 'cctp_burn', burn(11, 22), []],
    ['a number as text', 'evm_erc20_transfer', { chain_id: '11' }, ['no']],
    ['no number at all', 'evm_erc20_transfer', { chain_id: null }, ['no']],
    [
      'a network beside the chain that it pays on',
      'acme',
      { network: 'erc20', chain_id: 33 },
      ['no'],
    ],
  ])('with %s', (_, action_type, config, refused) => {
    const allowed = { allowed_chains: [...LIMITS.allowed_chains, 'erc20'] };
    expect(codes(sending(action_type, config), allowed)).toEqual(
      refused.map(() => 'chain_not_allowed'),
    );
  });

  it('is held to each asset by itself, and a grant of one is none of another', () => {
    const native = sending('evm_native_transfer', { chain_id: 11 }, 'ETH');
    const grant = { asset: 'USDC', amount: '1000', chains: [] };
    expect(codes(native, { max_notional: '9.9' }, grant)).toEqual([
      'max_notional_exceeded',
      'asset_not_allowed',
    ]);
  });

  it('that nothing bounds is beyond every limit and every grant', () => {
    const grant = { asset: 'USDC', amount: '1000', chains: [] };
    expect(
      uncoveredBy(
        { nodes: [], outflow: [{ asset: 'USDC', amount: null }] },
        { ...LIMITS, max_notional: '1000000' },
        grant,
        BOUND.chains,
      ).map(({ code }) => code),
    ).toEqual(['max_notional_exceeded']);
  });
});

function burn(from: number, to: number): JsonObject {
  return { source_chain_id: from, destination_chain_id: to };
}
