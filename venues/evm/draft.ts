/** Checks before each transaction is prepared, and builds the unsigned transaction. */
import { formatUnits, type Address } from 'viem';
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import type { EvmCall } from './call.ts';
import { NATIVE_DECIMALS, readBalance, type EvmConnection } from './client.ts';
import type { GasQuote } from './fees.ts';

/** Returns the unsigned transaction that makes the call at these fees. */
export function unsignedOf(
  chainId: number,
  call: EvmCall,
  quote: GasQuote,
): EvmUnsignedTransaction & Record<string, string | number> {
  return {
    chain_id: chainId,
    to: call.to,
    value: call.value.toString(),
    data: call.data,
    gas: quote.gas.toString(),
    max_fee_per_gas: quote.maxFeePerGas.toString(),
    max_priority_fee_per_gas: quote.maxPriorityFeePerGas.toString(),
  };
}

/**
 * Throws if the token's address has no contract.
 *
 * @throws ExecutorFault `rejected` `TOKEN_MISSING`.
 */
export async function requireCode(connection: EvmConnection, token: Address): Promise<void> {
  const code = await connection.ask((client) => client.getCode({ address: token }));
  if (code === undefined)
    throw rejected(
      'TOKEN_MISSING',
      `there is no contract at ${token} on chain ${connection.venue.chain_id}`,
    );
}

/** Throws if the balance is below `units`; returns the native balance, from which gas is paid. */
export async function requireBalance(
  connection: EvmConnection,
  of: {
    /** The token's contract; null: the chain's own coin. */
    readonly token: Address | null;
    readonly from: Address;
    readonly units: bigint;
    readonly decimals: number;
  },
): Promise<bigint> {
  const { token } = of;
  const [native, moved] = await Promise.all([
    readBalance(connection, { owner: of.from, token: null }),
    token === null ? null : readBalance(connection, { owner: of.from, token }),
  ]);
  const balance = moved ?? native;
  if (balance >= of.units) return native;
  throw rejected(
    'INSUFFICIENT_FUNDS',
    `${of.from} holds ${fromBaseUnits(balance, of.decimals)} of the ${fromBaseUnits(of.units, of.decimals)} to be moved`,
  );
}

/**
 * Throws if the signer cannot pay the call's gas.
 *
 * @throws ExecutorFault `rejected` `INSUFFICIENT_FUNDS`.
 */
export function requireGas(
  connection: EvmConnection,
  of: { readonly call: EvmCall; readonly quote: GasQuote; readonly holds: bigint },
): void {
  const { call, quote } = of;
  const most = call.value + quote.gas * quote.maxFeePerGas + quote.layer1Fee;
  if (of.holds >= most) return;
  const [needed, holds] = [
    formatUnits(most, NATIVE_DECIMALS),
    formatUnits(of.holds, NATIVE_DECIMALS),
  ];
  throw rejected(
    'INSUFFICIENT_FUNDS',
    `gas may need up to ${needed} ${connection.venue.native_asset} and the signer holds ${holds}`,
  );
}
