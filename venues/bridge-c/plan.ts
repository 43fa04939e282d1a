/** Reads the plan of a send over the bridge from its node and both venue entries. */
import type { Address } from 'viem';
import type { ExecutionContext } from '../../domain/executor.ts';
import { readAmount, readConfig, rejected } from '../node-plan.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { bridgeCPart, sendConfigSchema, type BridgeCVenue } from './config.ts';

/** A chain with its `bridge_c` entry. */
export type BridgeVenue = EvmVenue & { readonly bridge_c: BridgeCVenue };

export interface Bridge {
  readonly chains: EvmChains;
  readonly venues: readonly EvmVenue[];
}

/** One end of a send: source or destination. */
export interface End {
  readonly venue: BridgeVenue;
  /** The contract that sends and receives the token over the bridge. */
  readonly oft: Address;
  /** The token that holders hold: the same contract, or one from which that contract pulls. */
  readonly token: Address;
}

export interface SendPlan {
  readonly from: End;
  readonly to: End;
  readonly payee: Address;
  /** The amount to send: a decimal string in units of the asset. */
  readonly amount: string;
}

/**
 * Returns the plan of a send. Throws the `rejected` faults `CONFIG_INVALID`,
 * `CHAIN_NOT_CONFIGURED`, `BRIDGE_ROUTE_MISSING` (a chain without a `bridge_c` entry),
 * `TOKEN_ASSET_MISMATCH` (the bridge sends no such asset from the source) and
 * `DESTINATION_TOKEN_MISSING`.
 */
export function readSendPlan(
  node: Pick<ExecutionContext, 'config' | 'amount' | 'asset'>,
  venues: readonly EvmVenue[],
): SendPlan {
  const { source_chain_id, destination_chain_id, destination_address } = readConfig(
    sendConfigSchema,
    node,
  );
  readAmount(node);
  const { amount, asset } = node;
  const from = endOf(bridgeOf(venues, source_chain_id), asset, 'TOKEN_ASSET_MISMATCH');
  const to = endOf(bridgeOf(venues, destination_chain_id), asset, 'DESTINATION_TOKEN_MISSING');
  return { from, to, payee: destination_address, amount };
}

/** Returns what a send depends on in the venue entries, as the send records it. */
export function entriesOf({ from, to }: SendPlan): string {
  const side = ({ venue, oft, token }: End): string =>
    `chain ${venue.chain_id} eid ${venue.bridge_c.eid} endpoint ${venue.bridge_c.endpoint} oft ${oft} token ${token}`;
  return `${side(from)}; ${side(to)}`.toLowerCase();
}

function bridgeOf(venues: readonly EvmVenue[], chainId: number): BridgeVenue {
  const venue = venues.find(({ chain_id }) => chain_id === chainId);
  if (venue === undefined)
    throw rejected('CHAIN_NOT_CONFIGURED', `no evm venue is bound to chain ${chainId}`);
  const bridge_c = bridgeCPart.of(venue);
  if (bridge_c === undefined)
    throw rejected(
      'BRIDGE_ROUTE_MISSING',
      `venue ${venue.venue_key} has no bridge_c entry, so nothing is sent from or to it`,
    );
  return { ...venue, bridge_c };
}

function endOf(venue: BridgeVenue, asset: string, code: string): End {
  const oft = venue.bridge_c.tokens.find((token) => token.asset === asset)?.oft;
  const token = venue.tokens.find((listed) => listed.asset === asset)?.address;
  if (oft === undefined || token === undefined)
    throw rejected(code, `venue ${venue.venue_key} lists no token of ${asset} for bridge_c`);
  return { venue, oft, token };
}
