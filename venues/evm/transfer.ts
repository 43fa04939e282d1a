/** `evm.transfer`: native and ERC-20 transfers. The token's own logs show what the payment did. */
import {
  erc20Abi,
  isAddressEqual,
  parseEventLogs,
  type Address,
  type TransactionReceipt,
} from 'viem';
import type { Executor } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import { createActExecutor, type Drafting, type Ready } from './act-executor.ts';
import { actDescriptor, actOn, type Act, type ActOn, type Did } from './act.ts';
import type { EvmCall } from './call.ts';
import type { EvmChains, EvmConnection } from './client.ts';
import { isContractRefusal } from './errors.ts';
import { TRANSFER_ASSURANCES } from './landed.ts';
import { readTransferPlan, TRANSFER_ACTIONS, transferCall, type TransferPlan } from './plan.ts';
import { verifyEvmTransfer } from './verify-sign-request.ts';

export const EVM_TRANSFER_DESCRIPTOR = actDescriptor({
  executor_key: 'evm.transfer',
  action_types: TRANSFER_ACTIONS,
  provider: 'evm',
  completion_assurances: TRANSFER_ASSURANCES,
});

export const TRANSFER: Act<TransferPlan> = {
  descriptor: EVM_TRANSFER_DESCRIPTOR,
  noun: 'transfer',
  read: readTransferPlan,
  move: ({ chain_id, token_address: token, destination_address: address, amount }) => ({
    chain_id,
    outflow: { token, amount, leaves_signer: true, pays_bridge: false },
    payee: { address, field: 'destination_address', venue: null },
    terms: null,
    path: null,
  }),
  effect: (plan, { units, decimals }) => ({
    call: () => transferCall(plan, units),
    problem(unsigned) {
      const request = { kind: 'evm_transaction', payload: { ...unsigned } } as const;
      const verdict = verifyEvmTransfer(request, { ...plan, decimals });
      return verdict.ok ? null : verdict.problem;
    },
    did: (from, receipt) => did(plan, units, decimals, from, receipt),
  }),
};

export function createEvmTransferExecutor(chains: EvmChains): Executor {
  return createActExecutor(chains, TRANSFER, {
    facts: (plan) => plan,
    ready: (_plan, at) => Promise.resolve(transferReady(at)),
  });
}

/** Returns the act of the planned transfer, out of the account `from`. */
export function transferOn(plan: TransferPlan, from: Address): ActOn {
  return actOn(TRANSFER, plan, from, { ...plan, config: {}, asset: '' });
}

/** Returns the extra check of every transfer: the token must not return `false`. */
export function transferReady({ connection, from }: Drafting): Ready {
  return { requireAnswer: (call) => requireAnswer(connection, from, call) };
}

/**
 * Throws if the token returns `false`. Some tokens return `false` instead of a revert: such a
 * transaction would succeed and move nothing.
 */
async function requireAnswer(
  connection: EvmConnection,
  from: Address,
  transfer: EvmCall,
): Promise<void> {
  if (transfer.data === '0x') return;
  // A revert is left to the gas estimate, which simulates the same call and explains the revert
  // better.
  const answer = await connection.ask((client) =>
    client.call({ account: from, ...transfer }).catch((error: unknown) => {
      if (isContractRefusal(error)) return { data: undefined };
      throw error;
    }),
  );
  if (answer.data === undefined || /^0x0{63}1$/.test(answer.data)) return;
  throw rejected(
    'TRANSACTION_WOULD_REVERT',
    'the token returns false, so it would not make the transfer',
  );
}

/**
 * Returns what the mined transfer did. `TRANSFER_DIVERTED` and `TRANSFER_NOT_SEEN` are undecided,
 * since a failure would permit another attempt: the tokens have left, or only the log is missing.
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
 * Returns amounts from the token's own Transfer logs: a token that takes a fee on transfers credits
 * less than was sent.
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
