/** Connections to EVM chains: one endpoint a chain, opened for one call and checked each time. */
import {
  createPublicClient,
  erc20Abi,
  http,
  type Address,
  type Hash,
  type PublicClient,
  type TransactionReceipt,
} from 'viem';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { EvmVenue } from './config.ts';
import { isContractRefusal, toFault } from './errors.ts';

/** Of every EVM chain's own coin. */
export const NATIVE_DECIMALS = 18;

/** An endpoint whose chain id was seen to be the configured one, for the duration of one call. */
export interface EvmConnection {
  readonly venue: EvmVenue;
  readonly client: PublicClient;
  readonly call: CallOptions;
  /** Runs a read or write; whatever goes wrong becomes an {@link ExecutorFault}. */
  ask<T>(question: (client: PublicClient) => Promise<T>): Promise<T>;
  /**
   * Digits of the token, or of the chain's own coin for null. `rejected` faults `TOKEN_INVALID`
   * when it has none, and `TOKEN_DECIMALS_MISMATCH` when the venues file lists others.
   */
  decimals(token: Address | null): Promise<number>;
}

export interface EvmChains {
  chainIds(): readonly number[];
  /**
   * Opens the chain's endpoint. Throws `rejected` faults `CHAIN_NOT_CONFIGURED` and
   * `CHAIN_ID_MISMATCH`:
   * an endpoint of another chain would answer "not found" and wrong nonces to everything.
   */
  open(chainId: number, call: CallOptions): Promise<EvmConnection>;
}

/** The chains of the venues file. Decimals are remembered; nothing else outlives a call. */
export function createEvmChains(venues: readonly EvmVenue[]): EvmChains {
  const byId = new Map(venues.map((venue) => [venue.chain_id, venue]));
  const decimals = new Map<string, number>();
  return {
    chainIds: () => [...byId.keys()],
    async open(chainId, call) {
      const venue = byId.get(chainId);
      if (venue === undefined)
        throw new ExecutorFault(
          'rejected',
          'CHAIN_NOT_CONFIGURED',
          `no evm venue is bound to chain ${chainId}`,
        );
      const connection = connect(venue, call, decimals);
      const actual = await connection.ask((client) => client.getChainId());
      if (actual !== chainId) {
        throw new ExecutorFault(
          'rejected',
          'CHAIN_ID_MISMATCH',
          `the endpoint of venue ${venue.venue_key} is on chain ${actual}, not ${chainId}`,
        );
      }
      return connection;
    },
  };
}

function connect(venue: EvmVenue, call: CallOptions, decimals: Map<string, number>): EvmConnection {
  const client = createPublicClient({ transport: transport(venue, call), cacheTime: 0 });
  const ask = async <T>(question: (asked: PublicClient) => Promise<T>): Promise<T> => {
    try {
      return await question(client);
    } catch (error) {
      throw toFault(error, call);
    }
  };
  return {
    venue,
    client,
    call,
    ask,
    async decimals(token) {
      if (token === null) return NATIVE_DECIMALS;
      const known = decimals.get(`${venue.chain_id}:${token}`);
      if (known !== undefined) return known;
      const read = await ask((asked) => readDecimals(asked, token));
      checkDecimals(venue, token, read);
      decimals.set(`${venue.chain_id}:${token}`, read);
      return read;
    },
  };
}

/**
 * Never repeats a request by itself: a read is repeated by whoever called, a write only by
 * recovery. A redirect is refused, since it would carry a signed transaction to a place nobody
 * configured.
 */
function transport(venue: EvmVenue, call: CallOptions) {
  return http(venue.rpc_url, {
    retryCount: 0,
    timeout: venue.request_timeout_seconds * 1000,
    fetchFn: (input, init) => {
      const signals = [call.signal, ...(init?.signal ? [init.signal] : [])];
      return fetch(input, { ...init, redirect: 'error', signal: AbortSignal.any(signals) });
    },
  });
}

async function readDecimals(client: PublicClient, token: Address): Promise<number> {
  try {
    return await client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' });
  } catch (error) {
    if (!isContractRefusal(error)) throw error;
    throw new ExecutorFault(
      'rejected',
      'TOKEN_INVALID',
      `${token} is no ERC-20 token: it does not tell its decimals`,
    );
  }
}

/** Amounts would be off by powers of ten where the operator and the token disagree. */
function checkDecimals({ tokens, venue_key }: EvmVenue, token: Address, told: number): void {
  const listed = tokens.find(({ address }) => address.toLowerCase() === token.toLowerCase());
  if (listed?.decimals === undefined || listed.decimals === told) return;
  throw new ExecutorFault(
    'rejected',
    'TOKEN_DECIMALS_MISMATCH',
    `${token} tells ${told} decimals, and venue ${venue_key} lists it with ${listed.decimals}`,
  );
}

export interface Block {
  readonly number: bigint;
  readonly hash: Hash;
  /** Seconds since 1970. */
  readonly timestamp: bigint;
  readonly baseFeePerGas: bigint | null;
  readonly transactions: readonly Hash[];
}

/** One block by number or tag; transactions as hashes. */
export function readBlock(
  connection: EvmConnection,
  at: bigint | 'latest' | 'finalized',
): Promise<Block> {
  return connection.ask((client) =>
    typeof at === 'bigint'
      ? client.getBlock({ blockNumber: at })
      : client.getBlock({ blockTag: at }),
  ) as Promise<Block>;
}

/**
 * The number of the newest block that can no longer be reorganised; negative while there is none.
 */
export async function finalizedNumber(connection: EvmConnection): Promise<bigint> {
  const depth = connection.venue.finality_confirmations;
  if (depth === undefined) return (await readBlock(connection, 'finalized')).number;
  return (await readBlock(connection, 'latest')).number - BigInt(depth) + 1n;
}

/** Null while the transaction is in no block that the endpoint considers canonical. */
export async function readReceipt(
  connection: EvmConnection,
  hash: Hash,
): Promise<TransactionReceipt | null> {
  try {
    return await connection.client.getTransactionReceipt({ hash });
  } catch (error) {
    if (error instanceof Error && error.name === 'TransactionReceiptNotFoundError') return null;
    throw toFault(error, connection.call);
  }
}

/** Whether the endpoint holds the transaction, waiting or mined. */
export async function isHeld(connection: EvmConnection, hash: Hash): Promise<boolean> {
  try {
    await connection.client.getTransaction({ hash });
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'TransactionNotFoundError') return false;
    throw toFault(error, connection.call);
  }
}

/**
 * Base units of `token` (or of the chain's own coin for null) that `owner` holds, at `block` or
 * now.
 */
export function readBalance(
  connection: EvmConnection,
  of: { readonly owner: Address; readonly token: Address | null; readonly block?: bigint },
): Promise<bigint> {
  const { owner, token } = of;
  const at = of.block === undefined ? {} : { blockNumber: of.block };
  return connection.ask((client) =>
    token === null
      ? client.getBalance({ address: owner, ...at })
      : client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: 'balanceOf',
          args: [owner],
          ...at,
        }),
  );
}
