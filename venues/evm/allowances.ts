/** What spenders may take from an account: looked for in Approval logs, asked of each token. */
import { erc20Abi, getAddress, isAddress, numberToHex, pad, type Address, type Hex } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { Allowance, AllowanceScan, KnownSpender } from '../../domain/signer-lifecycle.ts';
import type { EvmConnection } from './client.ts';

/** keccak256 of `Approval(address,address,uint256)`. */
const APPROVAL: Hex = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';

interface Pair {
  readonly token: Address;
  readonly spender: Address;
}

/**
 * Every allowance of the account that is not zero. `known` are pairs that may have one, beside the
 * configured spenders and what logs of the whole chain name; where the endpoint does not search
 * those, or a token does not answer, the scan is partial.
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
  const asked = await Promise.all([...pairs.values()].map((pair) => ask(connection, owner, pair)));
  return {
    allowances: asked.filter((each) => each !== null && each !== 'unknown'),
    unsupported_spender_not_checked: logged === null || asked.includes('unknown'),
  };
}

/** Null where the endpoint does not search its logs that far. */
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
      // A fourth topic is the number of a single thing, and no amount.
      spender === undefined || token !== undefined
        ? []
        : [{ token: getAddress(address), spender: getAddress(`0x${spender.slice(26)}`) }],
    );
  } catch (error) {
    if (error instanceof ExecutorFault) return null;
    throw error;
  }
}

/** Null where the spender may take nothing. */
async function ask(
  connection: EvmConnection,
  owner: Address,
  { token, spender }: Pair,
): Promise<Allowance | 'unknown' | null> {
  try {
    const units = await connection.ask((client) =>
      client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [owner, spender],
      }),
    );
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
