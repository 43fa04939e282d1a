/** Checks the allowance of a contract that pulls tokens from a signer. */
import { erc20Abi, type Address } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { EvmConnection } from './client.ts';

/**
 * Throws if the spender may not pull `units`.
 *
 * @throws ExecutorFault retryable `ALLOWANCE_INSUFFICIENT`.
 */
export async function requireAllowance(
  connection: EvmConnection,
  of: {
    readonly token: Address;
    readonly owner: Address;
    readonly spender: Address;
    readonly units: bigint;
    readonly decimals: number;
  },
): Promise<void> {
  const { owner, spender, units, decimals } = of;
  const allowed = await connection.read({
    address: of.token,
    abi: erc20Abi,
    functionName: 'allowance',
    args: [owner, spender],
  });
  if (allowed >= units) return;
  // Retryable, since this endpoint may lag behind the one that showed the allowance.
  throw new ExecutorFault(
    'server_error',
    'ALLOWANCE_INSUFFICIENT',
    `${owner} allows ${spender} ${fromBaseUnits(allowed, decimals)} of the ${fromBaseUnits(units, decimals)} to be moved`,
  );
}
