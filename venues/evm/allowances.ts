/** Reads the allowances of an account: spenders from Approval logs, amounts from the tokens. */
import { erc20Abi, getAddress, isAddress, numberToHex, pad, type Address, type Hex } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { Allowance, AllowanceScan, KnownSpender } from '../../domain/signer-lifecycle.ts';
import type { EvmConnection } from './client.ts';

/** Topic of the log: keccak256 of `Approval(address,address,uint256)`. */
const APPROVAL: Hex = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';

interface Pair {
  readonly token: Address;
  readonly spender: Address;
}

/**
 * Returns every non-zero allowance of the account. Checks the `known` pairs, the configured
 * spenders and the spenders in logs of the whole chain. The result is marked incomplete if the
 * endpoint does not search these logs or a token does not answer.
 */
export async function scanAllowances(
  connection: EvmConnection,
  owner: Address,
  known: readonly KnownSpender[],
): Promise<AllowanceScan> {
  const { tokens, spenders = [] } = connection.venue;
  const logged = await fromLogs(connection, owner);
  const pairs = new Map<string, Pair>();
  for (const pair of [
    ...tokens.flatMap(({ address: token }) => spenders.map((spender) => ({ token, spender }))),
    ...known
      .filter(({ token_address, spender }) => isAddress(token_address) && isAddress(spender))
      .map(({ token_address, spender }) => ({
        token: getAddress(token_address),
        spender: getAddress(spender),
      })),
    ...(logged ?? []),
  ])
    pairs.set(`${pair.token}:${pair.spender}`, pair);
  const read = await Promise.all(
    [...pairs.values()].map((pair) => readAllowance(connection, owner, pair)),
  );
  return {
    allowances: read.filter((each) => each !== null && each !== 'unknown'),
    unsupported_spender_not_checked: logged === null || read.includes('unknown'),
  };
}

/** Returns the pairs found in logs; null if the endpoint does not search so many blocks. */
async function fromLogs(
  connection: EvmConnection,
  owner: Address,
): Promise<readonly Pair[] | null> {
  try {
    const logs = await connection.ask((client) =>
      client.request({
        method: 'eth_getLogs',
        params: [
          {
            fromBlock: numberToHex(0),
            toBlock: 'latest',
            topics: [APPROVAL, pad(owner, { size: 32 })],
          },
        ],
      }),
    );
    return logs.flatMap(({ address, topics: [, , spender, token] }) =>
      // A log with a fourth topic is the approval of one NFT.
      spender === undefined || token !== undefined
        ? []
        : [{ token: getAddress(address), spender: getAddress(`0x${spender.slice(26)}`) }],
    );
  } catch (error) {
    if (error instanceof ExecutorFault) return null;
    throw error;
  }
}

/** Returns the allowance; null if the spender may take nothing. */
async function readAllowance(
  connection: EvmConnection,
  owner: Address,
  { token, spender }: Pair,
): Promise<Allowance | 'unknown' | null> {
  try {
    const units = await connection.read({
      address: token,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [owner, spender],
    });
    if (units === 0n) return null;
    const decimals = await connection.decimals(token);
    return {
      chain: String(connection.venue.chain_id),
      token_address: token,
      spender,
      amount: fromBaseUnits(units, decimals),
    };
  } catch (error) {
    if (error instanceof ExecutorFault) return 'unknown';
    throw error;
  }
}
