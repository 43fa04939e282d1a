/** A transfer as an act: one payment, and what the token's own logs say that became of it. */
import {
  erc20Abi,
  isAddressEqual,
  parseEventLogs,
  type Address,
  type TransactionReceipt,
} from 'viem';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { ActOn, ChainAct, Did } from './act.ts';
import { baseUnits, transferCall, type TransferPlan } from './plan.ts';
import { verifyEvmTransfer } from './verify-sign-request.ts';

/** The transfer that a plan describes, with the decimals that its token tells. */
export function transferOn(plan: TransferPlan): ActOn {
  return async (connection) => transferAct(plan, await connection.decimals(plan.token_address));
}

/** `decimals` are the token's, 18 for the chain's own coin. */
export function transferAct(plan: TransferPlan, decimals: number): ChainAct {
  const units = baseUnits(plan, decimals);
  return {
    chain_id: plan.chain_id,
    call: transferCall(plan, units),
    verify: (unsigned) =>
      verifyEvmTransfer(
        { kind: 'evm_transaction', payload: { ...unsigned } },
        { ...plan, decimals },
      ),
    did: (from, receipt) => did(plan, units, decimals, from, receipt),
  };
}

/**
 * `TRANSFER_DIVERTED` and `TRANSFER_NOT_SEEN` are undecided: the token has left, or only its log is
 * missing, and a failure would count as unsent and permit another attempt.
 */
function did(
  plan: TransferPlan,
  units: bigint,
  decimals: number,
  from: Address,
  receipt: TransactionReceipt,
): Did {
  const done = (received: bigint): Did => ({
    ok: true,
    output: amounts(plan, fromBaseUnits(units, decimals), fromBaseUnits(received, decimals)),
  });
  if (plan.token_address === null) return done(units);
  const { received, left } = tokenMoves(plan.token_address, plan, from, receipt);
  if (received > 0n) return done(received);
  return left
    ? {
        ok: false,
        error_code: 'TRANSFER_DIVERTED',
        error_message:
          "the token left the signer but did not go to the destination; look at the transaction's logs",
      }
    : {
        ok: false,
        error_code: 'TRANSFER_NOT_SEEN',
        error_message:
          'the transaction succeeded, but the token reports no transfer to the destination; look at the balances',
      };
}

/**
 * What the token's own Transfer logs say: a token that takes a fee on transfer credits less than
 * was sent.
 */
function tokenMoves(
  token: Address,
  plan: Pick<TransferPlan, 'destination_address'>,
  from: Address,
  receipt: TransactionReceipt,
): { readonly received: bigint; readonly left: boolean } {
  const outgoing = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs })
    .filter((log) => isAddressEqual(log.address, token))
    .filter((log) => isAddressEqual(log.args.from, from));
  const received = outgoing
    .filter((log) => isAddressEqual(log.args.to, plan.destination_address))
    .reduce((sum, log) => sum + log.args.value, 0n);
  return { received, left: outgoing.length > 0 };
}

function amounts(plan: TransferPlan, submitted: string, received: string): JsonObject {
  return {
    requested_amount: plan.amount,
    submitted_amount: submitted,
    received_amount: received,
    destination_address: plan.destination_address,
  };
}
