/** The pool of funds that a node draws from: the funds of one venue in one kind of account. */
import { specOf } from '../actions/built-in.ts';
import { depositVenueOf, onChainPool, type ChainAssets } from './tokens.ts';
import type { CompiledNode } from './types.ts';

export interface Pool {
  readonly venue_key: string;
  readonly account_type: string;
}

const SPOT = 'SPOT';

/**
 * Returns the kind of account that the node's funds leave; null when the funds are on a chain.
 * Built-in withdrawals have a fixed kind, whatever the config contains, as in their executors.
 */
export function accountTypeOf({
  action_type,
  config: { venue, account_type: type },
}: Pick<CompiledNode, 'action_type' | 'config'>): string | null {
  const { pool } = specOf(action_type);
  if (typeof pool === 'object') return pool.account;
  if (pool === 'chain_id' || pool === 'source_chain_id') return null;
  if (typeof venue !== 'string' || venue === '') return null;
  return pool !== 'exchange' && typeof type === 'string' && type !== '' ? type.toUpperCase() : SPOT;
}

/**
 * Returns the pool that the node's executor spends from, read from that executor's input; null when
 * the node has no pool.
 */
export function poolOf(
  node: Pick<CompiledNode, 'action_type' | 'config' | 'signer_binding'>,
  chains: ChainAssets,
): Pool | null {
  const { venue } = node.config;
  const { pool } = specOf(node.action_type);
  const account_type = accountTypeOf(node);
  if (typeof pool === 'object' && account_type !== null) {
    const bound = depositVenueOf(chains, venue);
    return bound === null ? null : { venue_key: bound.venue_key, account_type };
  }
  if (account_type !== null && typeof venue === 'string') return { venue_key: venue, account_type };
  const chain = node.config[pool === 'source_chain_id' ? pool : 'chain_id'];
  return node.signer_binding !== null && typeof chain === 'number'
    ? onChainPool(chains, chain, node.signer_binding.signer_key)
    : null;
}
