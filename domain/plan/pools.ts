/** The pool of funds that a node draws from: what a venue keeps in one kind of account. */
import { needsSigner } from './actions.ts';
import { onChainPool, type ChainAssets } from './tokens.ts';
import type { CompiledNode } from './types.ts';

export interface Pool {
  readonly venue_key: string;
  readonly account_type: string;
}

const SPOT = 'SPOT';

/** Action types whose config names two chains: the field of the one that funds leave. */
const LEAVES_FROM: Readonly<Record<string, string>> = {
  cctp_burn: 'source_chain_id',
  bridge_c_send: 'source_chain_id',
};

/**
 * The pool that the node's executor spends from, read from what that executor is given; null where
 * there is none. Built-in withdrawals and what is signed know one account type, whatever the config
 * says of another.
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
  if (needsSigner(node.action_type)) return signed;
  if (typeof venue !== 'string' || venue === '') return signed;
  const chosen =
    node.action_type !== 'cex_withdrawal' && typeof type === 'string' && type !== ''
      ? type.toUpperCase()
      : SPOT;
  return { venue_key: venue, account_type: chosen };
}
