/**
 * How long a send usually takes until its end is seen. Whoever waits longer is shown to a person;
 * it ends nothing.
 */
import { isBuiltIn, type BuiltInAction } from '../plan/actions.ts';

/** Of an executor team's own action type whose registry entry says nothing else. */
export const DEFAULT_USUAL_SECONDS = 3_600;

const TRANSFER_SECONDS = 600;
const EXCHANGE_WITHDRAWAL_SECONDS = 7_200;
const BURN_SECONDS = 7_200;
const PERP_DEPOSIT_SECONDS = 1_800;
const HOUR_SECONDS = 3_600;

/** From the send, or the first look of a node that sends nothing, to the proven end. */
export const USUAL_SECONDS = {
  cex_withdrawal: EXCHANGE_WITHDRAWAL_SECONDS,
  cex_internal_transfer: TRANSFER_SECONDS,
  cex_deposit_observe: HOUR_SECONDS,
  evm_native_transfer: TRANSFER_SECONDS,
  evm_erc20_transfer: TRANSFER_SECONDS,
  evm_erc20_approve: TRANSFER_SECONDS,
  evm_balance_observe: HOUR_SECONDS,
  cctp_burn: BURN_SECONDS,
  cctp_mint: HOUR_SECONDS,
  bridge_c_send: HOUR_SECONDS,
  bridge_c_observe: HOUR_SECONDS,
  perp_deposit: PERP_DEPOSIT_SECONDS,
  perp_withdraw: HOUR_SECONDS,
  agent_wallet_top_up: TRANSFER_SECONDS,
  manual_gate: TRANSFER_SECONDS,
  noop: TRANSFER_SECONDS,
} as const satisfies Readonly<Record<BuiltInAction, number>>;

/**
 * Seconds after which a node that is still observed needs a person. The template's own
 * `timeout_policy.attention_seconds` wins; `declared` is what the registry says of the executor.
 */
export function usualSeconds(
  action_type: string,
  {
    attention_seconds,
    declared,
  }: {
    readonly attention_seconds?: number | undefined;
    readonly declared?: number | undefined;
  } = {},
): number {
  if (attention_seconds !== undefined) return attention_seconds;
  if (isBuiltIn(action_type)) return USUAL_SECONDS[action_type];
  return declared ?? DEFAULT_USUAL_SECONDS;
}
