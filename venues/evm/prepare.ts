/** Before the fence: whether a transfer can work, and the unsigned transaction that does it. */
import type { Address } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
} from '../../domain/executor.ts';
import type { EvmCall } from './call.ts';
import type { EvmChains, EvmConnection } from './client.ts';
import { requireBalance, requireCode, requireGas, unsignedOf } from './draft.ts';
import { failWhenRejected, isContractRefusal } from './errors.ts';
import { quoteGas, type GasQuote } from './fees.ts';
import {
  baseUnits,
  readSigner,
  readTransferPlan,
  transferCall,
  type TransferPlan,
} from './plan.ts';

interface Draft {
  readonly plan: TransferPlan;
  readonly from: Address;
  readonly decimals: number;
  readonly units: bigint;
  readonly transfer: EvmCall;
  readonly quote: GasQuote;
}

/**
 * Null when the transfer can work now; otherwise FAILED with `CONFIG_INVALID`, `SIGNER_MISSING`,
 * `CHAIN_NOT_CONFIGURED`, `CHAIN_ID_MISMATCH`, `TOKEN_MISSING`, `TOKEN_INVALID`,
 * `AMOUNT_PRECISION`, `INSUFFICIENT_FUNDS`, `TRANSACTION_WOULD_REVERT`, `FEE_MARKET_MISSING` or
 * `L1_FEE_UNKNOWN`.
 */
export function preflightTransfer(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult | null> {
  return failWhenRejected(async () => {
    await draft(chains, context, call);
    return null;
  });
}

/**
 * SUBMITTING with the plan's facts and the unsigned transaction; FAILED as {@link
 * preflightTransfer} does.
 */
export function prepareTransfer(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  return failWhenRejected(async () => {
    const { plan, from, decimals, units, transfer, quote } = await draft(chains, context, call);
    return {
      next_state: 'SUBMITTING' as const,
      prepared_action: {
        ...plan,
        asset: context.asset,
        from_address: from,
        decimals,
        base_units: units.toString(),
      },
      sign_request: {
        kind: 'evm_transaction' as const,
        payload: unsignedOf(plan.chain_id, transfer, quote),
      },
    };
  });
}

async function draft(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
): Promise<Draft> {
  const plan = readTransferPlan(context);
  const from = readSigner(context);
  const connection = await chains.open(plan.chain_id, call);
  if (plan.token_address !== null) await requireCode(connection, plan.token_address);
  const decimals = await connection.decimals(plan.token_address);
  const units = baseUnits(plan, decimals);
  const transfer = transferCall(plan, units);
  const { token_address: token } = plan;
  const holds = await requireBalance(connection, { token, from, units, decimals });
  const [quote] = await Promise.all([
    quoteGas(connection, from, transfer),
    requireAnswer(connection, from, transfer),
  ]);
  requireGas(connection, { call: transfer, quote, holds });
  return { plan, from, decimals, units, transfer, quote };
}

/**
 * Some tokens answer `false` where others revert: such a transaction would succeed and move
 * nothing.
 */
async function requireAnswer(
  connection: EvmConnection,
  from: Address,
  transfer: EvmCall,
): Promise<void> {
  if (transfer.data === '0x') return;
  // A revert is told by the gas estimate, which asks the same and explains it better.
  const answer = await connection.ask((client) =>
    client.call({ account: from, ...transfer }).catch((error: unknown) => {
      if (isContractRefusal(error)) return { data: undefined };
      throw error;
    }),
  );
  if (answer.data === undefined || /^0x0{63}1$/.test(answer.data)) return;
  throw new ExecutorFault(
    'rejected',
    'TRANSACTION_WOULD_REVERT',
    'the token answers that it would not make the transfer',
  );
}
