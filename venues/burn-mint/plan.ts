/** Reads the plan of a burn from its node and the venue entries of its chains. */
import { isAddressEqual, type Address, type Hex } from 'viem';
import type { ExecutionContext } from '../../domain/executor.ts';
import { compare } from '../../domain/money.ts';
import { readAmount, readConfig, rejected } from '../node-plan.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import type { SearchLimits } from '../evm/search-logs.ts';
import { padded } from '../evm/words.ts';
import type { Attester } from './attester.ts';
import {
  burnConfigSchema,
  burnMintPart,
  FINALITY_THRESHOLDS,
  type BurnMintVenue,
} from './config.ts';
import { ANYBODY } from './message.ts';

export type LaneVenue = EvmVenue & { readonly cctp: BurnMintVenue };

export interface Lane {
  readonly chains: EvmChains;
  readonly venues: readonly EvmVenue[];
  readonly attester: Attester;
  /** How long one call searches a chain's logs; absent: the default of searchLogs. */
  readonly search?: SearchLimits;
}

export interface BurnPlan {
  readonly source: LaneVenue;
  readonly destination: LaneVenue;
  readonly token: Address;
  /** The token that the destination chain's entry lists under the same asset. */
  readonly minted: Address;
  readonly mint_recipient: Address;
  /** The only account that may mint, in 32 bytes; zero: any account. */
  readonly destination_caller: Hex;
  readonly threshold: number;
  /** Decimal string in units of the asset, as is `max_fee`. */
  readonly amount: string;
  readonly max_fee: string;
}

/**
 * Returns the plan of a burn. Throws the `rejected` faults `CONFIG_INVALID`,
 * `CHAIN_NOT_CONFIGURED`, `TOKEN_ASSET_MISMATCH`, `BRIDGE_ROUTE_MISSING` (a chain without a `cctp`
 * entry) and `DESTINATION_TOKEN_MISSING`.
 */
export function readBurnPlan(
  node: Pick<ExecutionContext, 'config' | 'amount' | 'asset'>,
  venues: readonly EvmVenue[],
): BurnPlan {
  const config = readConfig(burnConfigSchema, node);
  readAmount(node);
  const { amount, asset } = node;
  if (compare(config.max_fee, amount) >= 0)
    throw rejected(
      'CONFIG_INVALID',
      `config.max_fee: ${config.max_fee} is not below the amount of ${amount}`,
    );
  const source = laneOf(venues, config.source_chain_id);
  const destination = laneOf(venues, config.destination_chain_id);
  const listed = source.tokens.find(({ address }) => isAddressEqual(address, config.token_address));
  if (listed?.asset !== asset)
    throw rejected(
      'TOKEN_ASSET_MISMATCH',
      `venue ${source.venue_key} lists ${config.token_address} as ${listed?.asset ?? 'nothing'}, not ${asset}`,
    );
  const minted = destination.tokens.find((token) => token.asset === asset)?.address;
  if (minted === undefined)
    throw rejected(
      'DESTINATION_TOKEN_MISSING',
      `venue ${destination.venue_key} lists no token of ${asset}`,
    );
  const { destination_caller: caller } = config;
  return {
    source,
    destination,
    token: config.token_address,
    minted,
    mint_recipient: config.mint_recipient,
    destination_caller: caller === undefined ? ANYBODY : padded(caller),
    threshold: FINALITY_THRESHOLDS[config.finality],
    amount,
    max_fee: config.max_fee,
  };
}

/** Returns what a burn and its mint depend on in the venue entries, as the burn records it. */
export function entriesOf({ source, destination, minted }: BurnPlan): string {
  const side = ({ chain_id, cctp }: LaneVenue): string =>
    `chain ${chain_id} domain ${cctp.domain} messenger ${cctp.token_messenger} transmitter ${cctp.message_transmitter}`;
  return `${side(source)}; ${side(destination)} token ${minted}`.toLowerCase();
}

function laneOf(venues: readonly EvmVenue[], chainId: number): LaneVenue {
  const venue = venues.find(({ chain_id }) => chain_id === chainId);
  if (venue === undefined)
    throw rejected('CHAIN_NOT_CONFIGURED', `no evm venue is bound to chain ${chainId}`);
  const cctp = burnMintPart.of(venue);
  if (cctp === undefined)
    throw rejected(
      'BRIDGE_ROUTE_MISSING',
      `venue ${venue.venue_key} has no cctp entry, so nothing is burnt or minted there`,
    );
  return { ...venue, cctp };
}
