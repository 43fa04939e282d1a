/** Before the fence: whether a transfer can work, and the unsigned transaction that does it. */
import { formatUnits, type Address } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type EvmUnsignedTransaction,
  type ExecutionContext,
  type ExecutionResult,
} from '../../domain/executor.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { NATIVE_DECIMALS, readBalance, type EvmChains, type EvmConnection } from './client.ts';
import { failWhenRejected, isContractRefusal } from './errors.ts';
import { quoteGas, type GasQuote } from './fees.ts';
import {
  baseUnits,
  readSigner,
  readTransferPlan,
  transferCall,
  type TransferCall,
  type TransferPlan,
} from './plan.ts';

interface Draft {
  readonly plan: TransferPlan;
  readonly from: Address;
  readonly decimals: number;
  readonly units: bigint;
  readonly transfer: TransferCall;
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
    const payload = {
      chain_id: plan.chain_id,
      to: transfer.to,
      value: transfer.value.toString(),
      data: transfer.data,
      gas: quote.gas.toString(),
      max_fee_per_gas: quote.maxFeePerGas.toString(),
      max_priority_fee_per_gas: quote.maxPriorityFeePerGas.toString(),
    } satisfies EvmUnsignedTransaction;
    return {
      next_state: 'SUBMITTING' as const,
      prepared_action: {
        ...plan,
        asset: context.asset,
        from_address: from,
        decimals,
        base_units: units.toString(),
      },
      sign_request: { kind: 'evm_transaction' as const, payload },
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
  const holds = await requireBalance(connection, { plan, from, units, decimals });
  const [quote] = await Promise.all([
    quoteGas(connection, from, transfer),
    requireAnswer(connection, from, transfer),
  ]);
  requireGas(connection, {
    needed: transfer.value + quote.gas * quote.maxFeePerGas + quote.layer1Fee,
    holds,
  });
  return { plan, from, decimals, units, transfer, quote };
}

async function requireCode(connection: EvmConnection, token: Address): Promise<void> {
  const code = await connection.ask((client) => client.getCode({ address: token }));
  if (code === undefined)
    throw new ExecutorFault(
      'rejected',
      'TOKEN_MISSING',
      `there is no contract at ${token} on chain ${connection.venue.chain_id}`,
    );
}

/** Checks what is to be moved; returns the native balance, from which gas is paid. */
async function requireBalance(
  connection: EvmConnection,
  of: {
    readonly plan: TransferPlan;
    readonly from: Address;
    readonly units: bigint;
    readonly decimals: number;
  },
): Promise<bigint> {
  const token = of.plan.token_address;
  const [native, moved] = await Promise.all([
    readBalance(connection, { owner: of.from, token: null }),
    token === null ? null : readBalance(connection, { owner: of.from, token }),
  ]);
  const balance = moved ?? native;
  if (balance >= of.units) return native;
  throw new ExecutorFault(
    'rejected',
    'INSUFFICIENT_FUNDS',
    `${of.from} holds ${fromBaseUnits(balance, of.decimals)} of the ${of.plan.amount} to be moved`,
  );
}

function requireGas(
  connection: EvmConnection,
  gas: { readonly needed: bigint; readonly holds: bigint },
): void {
  if (gas.holds >= gas.needed) return;
  const [needed, holds] = [
    formatUnits(gas.needed, NATIVE_DECIMALS),
    formatUnits(gas.holds, NATIVE_DECIMALS),
  ];
  throw new ExecutorFault(
    'rejected',
    'INSUFFICIENT_FUNDS',
    `gas may need up to ${needed} ${connection.venue.native_asset} and the signer holds ${holds}`,
  );
}

/**
 * Some tokens answer `false` where others revert: such a transaction would succeed and move
 * nothing.
 */
async function requireAnswer(
  connection: EvmConnection,
  from: Address,
  transfer: TransferCall,
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
