/** Opens and checks connections to EVM chains, for each call. */
import {
  erc20Abi,
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type Hash,
  type PublicClient,
  type ReadContractParameters,
  type ReadContractReturnType,
  type TransactionReceipt,
} from 'viem';
import type { CallOptions } from '../../domain/executor.ts';
import { rejected } from '../node-plan.ts';
import type { EvmVenue } from './config.ts';
import { readDecimals, type AgreedDecimals, type TokenDecimals } from './decimals.ts';
import { openEndpoints, type Endpoints, type Question, type Silences } from './endpoints.ts';
import { toFault } from './errors.ts';

type View = 'pure' | 'view';

/** Decimals of the chain's own coin, the same on every EVM chain. */
export const NATIVE_DECIMALS = 18 as TokenDecimals;

/** A chain whose endpoints have confirmed its id, for the duration of one call. */
export interface EvmConnection {
  readonly venue: EvmVenue;
  readonly call: CallOptions;
  /** The same as {@link Endpoints.ask}; throws the library's own errors. */
  readonly raw: Endpoints['ask'];
  /** Runs a read or write; throws every error as an {@link ExecutorFault}. */
  ask<T>(question: Question<T>): Promise<T>;
  /** Calls a view function of a contract; throws as {@link ask} does. */
  read<
    const abi extends Abi,
    name extends ContractFunctionName<abi, View>,
    const args extends ContractFunctionArgs<abi, View, name>,
  >(
    call: ReadContractParameters<abi, name, args>,
  ): Promise<ReadContractReturnType<abi, name, args>>;
  /**
   * Returns the item if any endpoint has it; null only if enough endpoints report that the item
   * does not exist.
   */
  find<T>(question: Question<T | null>): Promise<T | null>;
  /** The same as {@link Endpoints.all}; throws as {@link ask} does. */
  all<T>(question: Question<T>): Promise<readonly T[]>;
  /** Returns answers of as many endpoints as must agree on an absence, each read separately. */
  witnesses<T>(question: (connection: EvmConnection) => Promise<T>): Promise<readonly T[]>;
  /**
   * Returns the decimals of the token, or of the chain's own coin for null. Throws `rejected`
   * faults: `TOKEN_INVALID` when the token reports none, `TOKEN_DECIMALS_MISMATCH` when endpoints
   * differ, or report others than the venues file lists or than before. Opened with `anew`, it
   * throws `unreachable` instead while endpoints differ or too few answer.
   */
  decimals(token: Address | null): Promise<TokenDecimals>;
}

export interface EvmChains {
  chainIds(): readonly number[];
  /**
   * Opens the chain. With `anew`, decimals that are known are compared with the chain's again.
   * Throws `rejected` faults `CHAIN_NOT_CONFIGURED` and `CHAIN_ID_MISMATCH`.
   */
  open(
    chainId: number,
    call: CallOptions,
    decimals?: { readonly anew: boolean },
  ): Promise<EvmConnection>;
}

/**
 * Opens the chains of the venues file. Remembers decimals and endpoints that did not answer; keeps
 * nothing else between calls.
 */
export function createEvmChains(venues: readonly EvmVenue[]): EvmChains {
  const byId = new Map(venues.map((venue) => [venue.chain_id, venue]));
  const agreed: AgreedDecimals = new Map();
  const silences: Silences = new Map();
  return {
    chainIds: () => [...byId.keys()],
    async open(chainId, call, { anew } = { anew: false }) {
      const venue = byId.get(chainId);
      if (venue === undefined)
        throw rejected('CHAIN_NOT_CONFIGURED', `no evm venue is bound to chain ${chainId}`);
      const endpoints = await openEndpoints(venue, call, silences);
      const decimals = (token: Address): Promise<TokenDecimals> =>
        readDecimals(token, { venue, endpoints, agreed, anew });
      return connect({ venue, call, decimals, endpoints });
    },
  };
}

function connect(of: {
  readonly venue: EvmVenue;
  readonly call: CallOptions;
  /** Reads from the endpoints of the chain, also for a connection to one of them alone. */
  readonly decimals: (token: Address) => Promise<TokenDecimals>;
  readonly endpoints: Endpoints;
}): EvmConnection {
  const { venue, call, decimals, endpoints } = of;
  const faults = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw toFault(error, call);
    }
  };
  const ask = <T>(question: Question<T>): Promise<T> => faults(endpoints.ask(question));
  return {
    venue,
    call,
    raw: endpoints.ask,
    ask,
    read: (of) => ask((client) => client.readContract(of)),
    find: (question) => faults(endpoints.find(question)),
    all: (question) => faults(endpoints.all(question)),
    witnesses: (question) =>
      faults(
        endpoints.witnesses((client) => question(connect({ ...of, endpoints: only(client) }))),
      ),
    decimals: (token) =>
      token === null ? Promise.resolve(NATIVE_DECIMALS) : faults(decimals(token)),
  };
}

/** Wraps one endpoint as a set, for an answer that must come from this endpoint alone. */
function only(client: PublicClient): Endpoints {
  return {
    ask: (question) => question(client),
    find: (question) => question(client),
    all: async (question) => [await question(client)],
    witnesses: async (question) => [await question(client)],
  };
}

export interface Block {
  readonly number: bigint;
  readonly hash: Hash;
  /** Time of the block, in seconds since 1970. */
  readonly timestamp: bigint;
  readonly baseFeePerGas: bigint | null;
  readonly transactions: readonly Hash[];
}

/** Reads one block by number or tag; its transactions are hashes. */
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

/** Returns the time of the newest block, in milliseconds since 1970. */
export async function readBlockTime(
  chains: EvmChains,
  chainId: number,
  call: CallOptions,
): Promise<number> {
  const { timestamp } = await readBlock(await chains.open(chainId, call), 'latest');
  return Number(timestamp) * 1_000;
}

/**
 * Returns the number of the newest block that can no longer be reorganised, by the `finality` of
 * the venue; negative while there is no such block.
 */
export async function finalizedNumber(connection: EvmConnection): Promise<bigint> {
  const { confirmations } = connection.venue.finality;
  if (confirmations === null) return (await readBlock(connection, 'finalized')).number;
  return (await readBlock(connection, 'latest')).number - BigInt(confirmations) + 1n;
}

/** Reads the receipt; null while enough endpoints report the transaction in no canonical block. */
export function readReceipt(
  connection: EvmConnection,
  hash: Hash,
): Promise<TransactionReceipt | null> {
  return connection.find((client) =>
    client.getTransactionReceipt({ hash }).catch(orNull('TransactionReceiptNotFoundError')),
  );
}

/** Returns whether an endpoint has the transaction, waiting or mined. */
export async function isHeld(connection: EvmConnection, hash: Hash): Promise<boolean> {
  const held = await connection.ask((client) =>
    client.getTransaction({ hash }).catch(orNull('TransactionNotFoundError')),
  );
  return held !== null;
}

/** Returns a handler that turns the library's "not found" error of this name into null. */
function orNull(name: string): (error: unknown) => null {
  return (error) => {
    if (error instanceof Error && error.name === name) return null;
    throw error;
  };
}

/** Reads how many base units of `token` (null: the chain's coin) `owner` has, at `block` or now. */
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
