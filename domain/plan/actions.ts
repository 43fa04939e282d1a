/** What the built-in action types need. Unknown types are an executor team's own and need nothing of ours. */
export const BUILT_IN_ACTIONS = {
  cex_withdrawal: { signer: false },
  cex_internal_transfer: { signer: false },
  cex_deposit_observe: { signer: false },
  evm_native_transfer: { signer: true },
  evm_erc20_transfer: { signer: true },
  evm_balance_observe: { signer: false },
  cctp_burn: { signer: true },
  cctp_mint: { signer: true },
  bridge_c_send: { signer: true },
  bridge_c_observe: { signer: false },
  perp_deposit: { signer: true },
  perp_withdraw: { signer: true },
  agent_wallet_top_up: { signer: true },
  manual_gate: { signer: false },
  noop: { signer: false },
} as const satisfies Record<string, { readonly signer: boolean }>;

/** Reachable only through its own route, never through a plain movement. */
export const RESERVED_ACTION = 'agent_wallet_top_up';

/** Whether nodes of this action type sign an on-chain action and so must select a signer. */
export function needsSigner(actionType: string): boolean {
  return Object.hasOwn(BUILT_IN_ACTIONS, actionType) && BUILT_IN_ACTIONS[actionType as keyof typeof BUILT_IN_ACTIONS].signer;
}
