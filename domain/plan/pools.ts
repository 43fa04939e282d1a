/** The pool of funds that a node draws from: what a venue keeps in one kind of account. */
import { factsOf } from './actions.ts';
import { onChainPool, perpVenueOf, type ChainAssets } from './tokens.ts';
import type { CompiledNode } from './types.ts';

export interface Pool {
  readonly venue_key: string;
  readonly account_type: string;
}

const SPOT = 'SPOT';

/** The account type under which balances of the perps venue are told and held. */
export const PERP_ACCOUNT_TYPE = 'PERP';

/**
 * The pool that the node's executor spends from, read from what that executor is given; null where
 * there is none. Built-in withdrawals and what is signed know one account type, whatever the config
 * says of another; what is signed for the perps venue leaves the account there.
 */
export function poolOf(
  node: Pick<CompiledNode, 'action_type' | 'config' | 'signer_binding'>,
  chains: ChainAssets,
): Pool | null {
  const { venue, account_type: type } = node.config;
  // A team's own type has an account at its venue, else what its signer has on its chain.
  const leaves = factsOf(node.action_type)?.leaves ?? 'account';
  const chain = node.config[leaves === 'source_chain_id' ? leaves : 'chain_id'];
  const signed =
    node.signer_binding !== null && typeof chain === 'number'
      ? onChainPool(chains, chain, node.signer_binding.signer_key)
      : null;
  switch (leaves) {
    case 'perp': {
      const perp = perpVenueOf(chains, venue);
      return perp === null ? null : { venue_key: perp.venue_key, account_type: PERP_ACCOUNT_TYPE };
    }
    case 'chain_id':
    case 'source_chain_id':
      return signed;
    case 'exchange':
    case 'account': {
      if (typeof venue !== 'string' || venue === '') return signed;
      const chosen =
        leaves === 'account' && typeof type === 'string' && type !== '' ? type.toUpperCase() : SPOT;
      return { venue_key: venue, account_type: chosen };
    }
  }
}
