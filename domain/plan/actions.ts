/**
 * What the built-in action types need, and whether they send anything. Others are an executor
 * team's own, of which nothing is known here.
 */
import type { TemplateNode } from './types.ts';

export const BUILT_IN_ACTIONS = {
  cex_withdrawal: { signer: false, sends: true },
  cex_internal_transfer: { signer: false, sends: true },
  cex_deposit_observe: { signer: false, sends: false },
  evm_native_transfer: { signer: true, sends: true },
  evm_erc20_transfer: { signer: true, sends: true },
  evm_erc20_approve: { signer: true, sends: true },
  evm_balance_observe: { signer: false, sends: false },
  cctp_burn: { signer: true, sends: true },
  cctp_mint: { signer: true, sends: true },
  bridge_c_send: { signer: true, sends: true },
  bridge_c_observe: { signer: false, sends: false },
  perp_deposit: { signer: true, sends: true },
  perp_withdraw: { signer: true, sends: true },
  agent_wallet_top_up: { signer: true, sends: true },
  manual_gate: { signer: false, sends: false },
  noop: { signer: false, sends: false },
} as const satisfies Record<string, { readonly signer: boolean; readonly sends: boolean }>;
export type BuiltInAction = keyof typeof BUILT_IN_ACTIONS;

/** Reachable only through its own route, never through a plain movement. */
export const RESERVED_ACTION = 'agent_wallet_top_up';

/** Whether only the service itself registers versions of this template, and creates from them. */
export function isReservedTemplate(templateKey: string): boolean {
  return templateKey.startsWith('system/');
}

/** Whether nodes of this action type sign an on-chain action and so must select a signer. */
export function needsSigner(actionType: string): boolean {
  return builtIn(actionType)?.signer ?? false;
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
  return builtIn(node.action_type)?.sends ?? executorSends;
}

/** Whether nodes of this action type only wait or do nothing, whoever runs them. */
export function isIdle(actionType: string): boolean {
  return actionType === 'noop' || actionType === 'manual_gate';
}

/** Whether the service itself knows what nodes of this action type do. */
export function isBuiltIn(actionType: string): actionType is BuiltInAction {
  return Object.hasOwn(BUILT_IN_ACTIONS, actionType);
}

function builtIn(
  actionType: string,
): { readonly signer: boolean; readonly sends: boolean } | undefined {
  return isBuiltIn(actionType) ? BUILT_IN_ACTIONS[actionType] : undefined;
}
