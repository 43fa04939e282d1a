/**
 * All that guards need to know of the built-in action types, and whether they send anything. Others
 * are an executor team's own, of which nothing is known here.
 */
import type { TemplateNode } from './types.ts';

/**
 * The facts of one action type. None is optional: a type of which one is missing does not compile,
 * since a guard that knows nothing of a type would let it pass.
 */
export interface ActionFacts {
  /** Whether its nodes sign an on-chain action. */
  readonly signer: boolean;
  /** Whether its nodes move funds. */
  readonly sends: boolean;
  /** What says which token its nodes move, to be compared with their asset; null: no token. */
  readonly token: TokenFact | null;
  /** From where its funds leave, which is the pool that is held. */
  readonly leaves: PoolFact;
  /** Whom it pays, which the allowlist is asked about. */
  readonly pays: PayeeFact;
  /** Why a node that has sent nothing stays with a signer that was replaced; null: it follows. */
  readonly stays: 'perp_master' | 'allowance' | null;
  /** Its part in a route's transport; null: it carries nothing out of its venue. */
  readonly transport: TransportFamily | null;
  /** Its part in a crossing between chains. */
  readonly crossing: { readonly lane: 'burn_and_mint' | 'bridge_c'; readonly leg: 1 | 2 } | null;
}

/**
 * The config's token on the chain of a field (`native`: the chain's own coin; `optional`: that coin
 * where no token is named), or the token of the venue entry of a bridge or a perps venue.
 */
export type TokenFact =
  | {
      readonly chain: 'chain_id' | 'source_chain_id';
      readonly named: 'token' | 'native' | 'optional';
    }
  | 'bridge'
  | 'perp'
  | 'first_leg';

/**
 * `account`: the venue's account of the config's type. `exchange`: the account that an exchange
 * withdraws from. `perp`: the account at the perps venue. Else what the signer has on the chain of
 * this field.
 */
export type PoolFact = 'account' | 'exchange' | 'perp' | 'chain_id' | 'source_chain_id';

/**
 * `exchange`: an address that an exchange pays. `chain`: every address that it is given. `spender`:
 * moreover who may pull. With `strict` it arrives on another chain than it leaves from, and a row
 * must say on which: that of this field.
 */
export type PayeeFact =
  | 'nobody'
  | 'exchange'
  | 'chain'
  | 'spender'
  | { readonly strict: 'chain_id' | 'destination_chain_id' };

export const TRANSPORT_FAMILIES = [
  'cex_withdrawal',
  'onchain_transfer',
  'bridge',
  'perp',
  'mixed',
] as const;
export type TransportFamily = (typeof TRANSPORT_FAMILIES)[number];

export const BUILT_IN_ACTIONS = {
  cex_withdrawal: {
    signer: false,
    sends: true,
    token: null,
    leaves: 'exchange',
    pays: 'exchange',
    stays: null,
    transport: 'cex_withdrawal',
    crossing: null,
  },
  cex_internal_transfer: {
    signer: false,
    sends: true,
    token: null,
    leaves: 'account',
    pays: 'nobody',
    stays: null,
    transport: null,
    crossing: null,
  },
  cex_deposit_observe: {
    signer: false,
    sends: false,
    token: null,
    leaves: 'account',
    pays: 'nobody',
    stays: null,
    transport: null,
    crossing: null,
  },
  evm_native_transfer: {
    signer: true,
    sends: true,
    token: { chain: 'chain_id', named: 'native' },
    leaves: 'chain_id',
    pays: 'chain',
    stays: null,
    transport: 'onchain_transfer',
    crossing: null,
  },
  evm_erc20_transfer: {
    signer: true,
    sends: true,
    token: { chain: 'chain_id', named: 'token' },
    leaves: 'chain_id',
    pays: 'chain',
    stays: null,
    transport: 'onchain_transfer',
    crossing: null,
  },
  evm_erc20_approve: {
    signer: true,
    sends: true,
    token: { chain: 'chain_id', named: 'token' },
    leaves: 'chain_id',
    pays: 'spender',
    stays: null,
    transport: null,
    crossing: null,
  },
  evm_balance_observe: {
    signer: false,
    sends: false,
    token: { chain: 'chain_id', named: 'optional' },
    leaves: 'account',
    pays: 'nobody',
    stays: null,
    transport: null,
    crossing: null,
  },
  cctp_burn: {
    signer: true,
    sends: true,
    token: { chain: 'source_chain_id', named: 'token' },
    leaves: 'source_chain_id',
    pays: { strict: 'destination_chain_id' },
    stays: 'allowance',
    transport: 'bridge',
    crossing: { lane: 'burn_and_mint', leg: 1 },
  },
  cctp_mint: {
    signer: true,
    sends: true,
    token: 'first_leg',
    leaves: 'chain_id',
    pays: 'chain',
    stays: null,
    transport: 'bridge',
    crossing: { lane: 'burn_and_mint', leg: 2 },
  },
  bridge_c_send: {
    signer: true,
    sends: true,
    token: 'bridge',
    leaves: 'source_chain_id',
    pays: { strict: 'destination_chain_id' },
    stays: 'allowance',
    transport: 'bridge',
    crossing: { lane: 'bridge_c', leg: 1 },
  },
  bridge_c_observe: {
    signer: false,
    sends: false,
    token: 'first_leg',
    leaves: 'account',
    pays: 'nobody',
    stays: null,
    transport: null,
    crossing: { lane: 'bridge_c', leg: 2 },
  },
  perp_deposit: {
    signer: true,
    sends: true,
    token: { chain: 'chain_id', named: 'token' },
    leaves: 'chain_id',
    pays: 'chain',
    stays: 'perp_master',
    transport: 'perp',
    crossing: null,
  },
  perp_withdraw: {
    signer: true,
    sends: true,
    token: 'perp',
    leaves: 'perp',
    pays: { strict: 'chain_id' },
    stays: 'perp_master',
    transport: 'perp',
    crossing: null,
  },
  // It pays the sub-account of the movement's strategy, which the fence asks for.
  agent_wallet_top_up: {
    signer: true,
    sends: true,
    token: 'perp',
    leaves: 'perp',
    pays: 'nobody',
    stays: 'perp_master',
    transport: 'perp',
    crossing: null,
  },
  manual_gate: {
    signer: false,
    sends: false,
    token: null,
    leaves: 'account',
    pays: 'nobody',
    stays: null,
    transport: null,
    crossing: null,
  },
  noop: {
    signer: false,
    sends: false,
    token: null,
    leaves: 'account',
    pays: 'nobody',
    stays: null,
    transport: null,
    crossing: null,
  },
} as const satisfies Readonly<Record<string, ActionFacts>>;

export type BuiltInAction = keyof typeof BUILT_IN_ACTIONS;

/** The facts of a built-in action type; undefined for a team's own. */
export function factsOf(actionType: string): ActionFacts | undefined {
  return isBuiltIn(actionType) ? BUILT_IN_ACTIONS[actionType] : undefined;
}

/** Reachable only through its own route, never through a plain movement. */
export const RESERVED_ACTION = 'agent_wallet_top_up';

/** Whether only the service itself registers versions of this template, and creates from them. */
export function isReservedTemplate(templateKey: string): boolean {
  return templateKey.startsWith('system/');
}

/** Whether nodes of this action type sign an on-chain action and so must select a signer. */
export function needsSigner(actionType: string): boolean {
  return factsOf(actionType)?.signer ?? false;
}

/**
 * Whether a node moves funds: a built-in action as the table says, a team's own unless its executor
 * declares that it does not. Neither the template's `has_side_effect` nor anything that a caller
 * writes decides it.
 */
export function isSending(
  node: Pick<TemplateNode, 'node_kind' | 'action_type'>,
  executorSends: boolean,
): boolean {
  if (node.node_kind === 'observe' || node.node_kind === 'manual_gate') return false;
  return factsOf(node.action_type)?.sends ?? executorSends;
}

/** Whether nodes of this action type only wait or do nothing, whoever runs them. */
export function isIdle(actionType: string): boolean {
  return actionType === 'noop' || actionType === 'manual_gate';
}

/** Whether the service itself knows what nodes of this action type do. */
export function isBuiltIn(actionType: string): actionType is BuiltInAction {
  return Object.hasOwn(BUILT_IN_ACTIONS, actionType);
}
