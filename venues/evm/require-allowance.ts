/** Whether whoever pulls tokens from a signer may. */
import { erc20Abi, type Address } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { EvmConnection } from './client.ts';

/** Throws `ALLOWANCE_INSUFFICIENT`, which is asked again. */
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
  const allowed = await connection.ask((client) =>
    client.readContract({
      address: of.token,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [owner, spender],
    }),
  );
  if (allowed >= units) return;
  // The endpoint may be behind the one that showed the allowance.
  throw new ExecutorFault(
    'server_error',
    'ALLOWANCE_INSUFFICIENT',
    `${owner} allows ${spender} ${fromBaseUnits(allowed, decimals)} of the ${fromBaseUnits(units, decimals)} to be moved`,
  );
}
