/** The pool of funds that a node draws from: what a venue keeps in one kind of account. */
import { isUserSigned } from '../perps/ready.ts';
import { needsSigner } from './actions.ts';
import { onChainPool, perpVenueOf, type ChainAssets } from './tokens.ts';
import type { CompiledNode } from './types.ts';

export interface Pool {
  readonly venue_key: string;
  readonly account_type: string;
}

const SPOT = 'SPOT';

/** The account type under which balances of the perps venue are told and held. */
export const PERP_ACCOUNT_TYPE = 'PERP';

/** Action types whose config names two chains: the field of the one that funds leave. */
const LEAVES_FROM: Readonly<Record<string, string>> = {
  cctp_burn: 'source_chain_id',
  bridge_c_send: 'source_chain_id',
};

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
  const chain = node.config[LEAVES_FROM[node.action_type] ?? 'chain_id'];
  const signed =
    node.signer_binding !== null && typeof chain === 'number'
      ? onChainPool(chains, chain, node.signer_binding.signer_key)
      : null;
  if (isUserSigned(node.action_type)) {
    const perp = perpVenueOf(chains, venue);
    return perp === null ? null : { venue_key: perp.venue_key, account_type: PERP_ACCOUNT_TYPE };
  }
  if (needsSigner(node.action_type)) return signed;
  if (typeof venue !== 'string' || venue === '') return signed;
  const chosen =
    node.action_type !== 'cex_withdrawal' && typeof type === 'string' && type !== ''
      ? type.toUpperCase()
      : SPOT;
  return { venue_key: venue, account_type: chosen };
}
