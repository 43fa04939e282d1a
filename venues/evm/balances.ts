/** Balances of signers on chains: the chain's own coin and the listed tokens. */
import { getAddress, isAddress, type Address } from 'viem';
import type { BalanceFetcher, PoolBalance } from '../../domain/balances.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { fromBaseUnits, isDecimal } from '../../domain/money.ts';
import { onChainVenueKey } from '../../domain/plan/tokens.ts';
import type { Signer } from '../../domain/signer.ts';
import { readBalance, readBlock, type EvmChains, type EvmConnection } from './client.ts';
import type { EvmVenue } from './config.ts';

const DEFAULT_INTERVAL_SECONDS = 30;
/**
 * Nodes without an archive answer for about 128 blocks, so the confirmed block is at most this many
 * blocks back.
 */
const DEEPEST_LOOK_BACK = 64;
/** The most that amounts can show; a token with more decimals is rounded down. */
const MOST_DECIMALS = 18;

/** A fetcher for each chain and each signer of the family `evm`, under the key of their pool. */
export function createEvmBalances(
  venues: readonly EvmVenue[],
  { chains, signers }: { readonly chains: EvmChains; readonly signers: readonly Signer[] },
): readonly BalanceFetcher[] {
  const owners = signers.filter(({ descriptor }) => descriptor.chain_family === 'evm');
  return venues.flatMap((venue) =>
    owners.map((signer): BalanceFetcher => ({
      venue_key: onChainVenueKey(venue.venue_key, signer.descriptor.signer_key),
      interval_seconds: venue.fetch_interval_seconds ?? DEFAULT_INTERVAL_SECONDS,
      fetch: async ({ signal }) => {
        const owner = await ownerOf(signer);
        return balancesOf(
          await chains.open(venue.chain_id, {
            signal,
            requestId: `balances of ${venue.venue_key}`,
          }),
          owner,
        );
      },
    })),
  );
}

async function ownerOf(signer: Signer): Promise<Address> {
  const identity = await signer.identity();
  if (identity !== null && isAddress(identity, { strict: false })) return getAddress(identity);
  throw new Error(`the signer ${signer.descriptor.signer_key} does not report its address`);
}

/** Reads at named blocks, so that machines behind one URL cannot answer for different ones. */
async function balancesOf(
  connection: EvmConnection,
  owner: Address,
): Promise<readonly PoolBalance[]> {
  const { venue } = connection;
  const latest = (await readBlock(connection, 'latest')).number;
  const back = BigInt(Math.min(venue.confirmations, DEEPEST_LOOK_BACK) - 1);
  const confirmed = latest > back ? latest - back : 0n;
  const listed = [
    { asset: venue.native_asset, token: null },
    ...venue.tokens.map(({ asset, address }) => ({ asset, token: address })),
  ];
  return Promise.all(
    listed.map((each) => poolOf(connection, { ...each, owner, latest, confirmed })),
  );
}

/**
 * `withdrawable` is the smaller of the newest and the confirmed block's balance: an incoming
 * payment may still be reorganised away, and an outgoing one may be newer than the confirmed block.
 * Every ended node is in the confirmed block, since it waited for it.
 */
async function poolOf(
  connection: EvmConnection,
  of: {
    readonly asset: string;
    readonly token: Address | null;
    readonly owner: Address;
    readonly latest: bigint;
    readonly confirmed: bigint;
  },
): Promise<PoolBalance> {
  const { asset, token, owner, latest, confirmed } = of;
  try {
    const decimals = await connection.decimals(token);
    const newest = await readBalance(connection, { owner, token, block: latest });
    const safe =
      confirmed === latest
        ? newest
        : await readBalance(connection, { owner, token, block: confirmed });
    const total = amountOf(newest, decimals);
    const details = {
      block_number: latest.toString(),
      confirmed_block_number: confirmed.toString(),
    };
    return {
      account_type: 'SPOT',
      asset,
      available: total,
      withdrawable: amountOf(safe < newest ? safe : newest, decimals),
      total,
      details,
    };
  } catch (error) {
    // One wrongly listed token must not hide the others; its own amounts stay null.
    if (!(error instanceof ExecutorFault) || error.kind !== 'rejected') throw error;
    return {
      account_type: 'SPOT',
      asset,
      available: null,
      withdrawable: null,
      total: null,
      details: { problem: error.code },
    };
  }
}

/** Rounded down to what amounts can show; null where it is too large for them. */
export function amountOf(units: bigint, decimals: number): string | null {
  const shown = Math.min(decimals, MOST_DECIMALS);
  const text = fromBaseUnits(units / 10n ** BigInt(decimals - shown), shown);
  return isDecimal(text) ? text : null;
}
