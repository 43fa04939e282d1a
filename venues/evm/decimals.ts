/**
 * Reads how many decimals a token has. Limits count in units of the asset, so a number that is too
 * large by two lets a hundred times the amount pass all of them.
 */
import { erc20Abi, type Address, type PublicClient } from 'viem';
import { ExecutorFault } from '../../domain/executor.ts';
import { toBaseUnits } from '../../domain/money.ts';
import type { EvmVenue } from './config.ts';
import type { Endpoints } from './endpoints.ts';
import { isContractRefusal } from './errors.ts';

declare const checked: unique symbol;

/** Decimals that were checked; no other number turns an amount into base units. */
export type TokenDecimals = number & { readonly [checked]: true };

/** The decimals that enough endpoints have reported alike, by chain and token. */
export type AgreedDecimals = Map<string, TokenDecimals>;

/** What an endpoint reports; `none`: it has no ERC-20 token at the address. */
type Reported = number | 'none';

/** Returns the amount in base units; null when the token has too few decimals for it. */
export function exactUnits(amount: string, decimals: TokenDecimals): bigint | null {
  return toBaseUnits(amount, decimals);
}

/**
 * Returns the decimals that the venues file lists, or that as many endpoints report as must agree
 * on an absence. Decimals that are listed or agreed on are compared with one endpoint's answer: the
 * listed ones once, and all of them whenever `anew` is set.
 *
 * Without `anew` one endpoint is believed while too few answer, and its answer is not kept. Only
 * endpoints that agree have the node refused; while they do not, it waits.
 *
 * @throws ExecutorFault `TOKEN_DECIMALS_MISMATCH`, `TOKEN_INVALID`: `rejected` where endpoints
 *   agree, else `unreachable`; with `anew` also `unreachable` `NOT_FOUND_UNCONFIRMED`.
 */
export async function readDecimals(
  token: Address,
  of: {
    readonly venue: EvmVenue;
    readonly endpoints: Endpoints;
    readonly agreed: AgreedDecimals;
    readonly anew: boolean;
  },
): Promise<TokenDecimals> {
  const { venue, endpoints, agreed, anew } = of;
  const key = `${venue.chain_id}:${token}`;
  const known = agreed.get(key);
  if (known !== undefined && !anew) return known;
  const listed = venue.tokens.find(
    ({ address }) => address.toLowerCase() === token.toLowerCase(),
  )?.decimals;
  const due = listed ?? known;
  const question = (client: PublicClient): Promise<Reported> => reportedBy(client, token);
  let reported: readonly Reported[] = due === undefined ? [] : [await endpoints.ask(question)];
  let isConfirmed = true;
  // An endpoint that is wrong, such as one that still syncs, does not decide alone.
  if (due === undefined || reported[0] !== due)
    try {
      reported = await endpoints.witnesses(question);
    } catch (error) {
      if (anew) throw error;
      // An endpoint that fails must not hide what was sent; what is signed is read with `anew`.
      if (due === undefined) reported = [await endpoints.ask(question)];
      isConfirmed = false;
    }
  const [decimals] = reported;
  const isAlike = reported.every((each) => each === decimals);
  const kind = isAlike && isConfirmed ? 'rejected' : 'unreachable';
  if (isAlike && decimals === 'none')
    throw new ExecutorFault(
      kind,
      'TOKEN_INVALID',
      `${token} is not an ERC-20 token: it does not report its decimals`,
    );
  if (!isAlike || typeof decimals !== 'number' || decimals !== (due ?? decimals))
    throw new ExecutorFault(
      kind,
      'TOKEN_DECIMALS_MISMATCH',
      mismatch(token, venue, { reported, listed, known }),
    );
  if (isConfirmed) agreed.set(key, decimals as TokenDecimals);
  return decimals as TokenDecimals;
}

async function reportedBy(client: PublicClient, token: Address): Promise<Reported> {
  try {
    return await client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' });
  } catch (error) {
    if (!isContractRefusal(error)) throw error;
    return 'none';
  }
}

function mismatch(
  token: Address,
  { venue_key }: EvmVenue,
  of: {
    readonly reported: readonly Reported[];
    readonly listed: number | undefined;
    readonly known: number | undefined;
  },
): string {
  const { reported, listed, known } = of;
  const now = [...new Set(reported)].join(' and ');
  const find = `find out which number is right, and list it as tokens[].decimals of ${venue_key}`;
  return listed !== undefined
    ? `${token} reports ${now} decimals, and venue ${venue_key} lists it with ${listed}: correct the entry, or remove an endpoint that is wrong`
    : known !== undefined
      ? `${token} reports ${now} decimals, and ${known} before: ${find}`
      : `endpoints of venue ${venue_key} report ${now} decimals of ${token}: ${find}`;
}
