/** Reads balances of signers on chains: the chain's own coin and the listed tokens. */
import { getAddress, isAddress, type Address } from 'viem';
import type { BalanceFetcher, PoolBalance } from '../../domain/balances.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { fromBaseUnits, isDecimal } from '../../domain/money.ts';
import { onChainVenueKey } from '../../domain/plan/tokens.ts';
import type { Signer } from '../../domain/signer.ts';
import { readBalance, readBlock, type EvmChains, type EvmConnection } from './client.ts';
import type { EvmVenue } from './config.ts';

/** Codes of a token by itself, also where endpoints only differ in it. */
const OF_TOKEN: readonly string[] = ['TOKEN_INVALID', 'TOKEN_DECIMALS_MISMATCH'];

const DEFAULT_INTERVAL_SECONDS = 30;
/**
 * Bound of blocks between the newest and the confirmed block: endpoints without an archive keep
 * balances of about 128 blocks.
 */
const DEEPEST_LOOK_BACK = 64;
/** Most decimals of an amount; balances of a token with more decimals are rounded down. */
const MOST_DECIMALS = 18;

/** Returns a fetcher for each chain and each `evm` signer, under the venue key of their pool. */
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
        const pools = await balancesOf(
          await chains.open(venue.chain_id, {
            signal,
            requestId: `balances of ${venue.venue_key}`,
          }),
          owner,
        );
        return { pools, outlook: null };
      },
    })),
  );
}

async function ownerOf(signer: Signer): Promise<Address> {
  const identity = await signer.identity();
  if (identity !== null && isAddress(identity, { strict: false })) return getAddress(identity);
  throw new Error(`the signer ${signer.descriptor.signer_key} does not report its address`);
}

/** Reads at block numbers, since machines behind one URL may have different newest blocks. */
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
 * Returns one pool's balance. `withdrawable` is the smaller of the newest and the confirmed block's
 * balance: an incoming payment may still be reorganised away, and an outgoing payment may be newer
 * than the confirmed block. The confirmed block contains the effect of every ended node, since the
 * node waited for that block.
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
    // One wrongly listed token, or one in which endpoints differ, must not hide the other balances;
    // only its own amounts are null.
    if (!(error instanceof ExecutorFault)) throw error;
    if (error.kind !== 'rejected' && !OF_TOKEN.includes(error.code)) throw error;
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

/**
 * Returns the amount, rounded down to 18 decimals; null if the result is too large for an amount.
 */
export function amountOf(units: bigint, decimals: number): string | null {
  const shown = Math.min(decimals, MOST_DECIMALS);
  const text = fromBaseUnits(units / 10n ** BigInt(decimals - shown), shown);
  return isDecimal(text) ? text : null;
}
