/** What a send over the bridge is to do, read from its context and from both venue entries. */
import type { Address } from 'viem';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import { isDecimal, isPositive } from '../../domain/money.ts';
import { issuesLine } from '../../platform/issues.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { bridgeCPart, sendConfigSchema, type BridgeCVenue } from './config.ts';

/** A chain with its part of the bridge. */
export type BridgeVenue = EvmVenue & { readonly bridge_c: BridgeCVenue };

/** What the lane's executors work with. */
export interface Bridge {
  readonly chains: EvmChains;
  readonly venues: readonly EvmVenue[];
}

/** One end of a send. */
export interface End {
  readonly venue: BridgeVenue;
  /** The contract that sends and receives. */
  readonly oft: Address;
  /** What holders hold: the same contract, or one that it pulls from. */
  readonly token: Address;
}

export interface SendPlan {
  readonly from: End;
  readonly to: End;
  readonly payee: Address;
  /** Decimal string in units of the asset. */
  readonly amount: string;
}

/**
 * Throws the `rejected` faults `CONFIG_INVALID`, `CHAIN_NOT_CONFIGURED`, `BRIDGE_ROUTE_MISSING` (a
 * chain without this bridge), `TOKEN_ASSET_MISMATCH` (the bridge sends no such asset from here)
 * and `DESTINATION_TOKEN_MISSING`.
 */
export function readSendPlan(
  { config, amount, asset }: Pick<ExecutionContext, 'config' | 'amount' | 'asset'>,
  venues: readonly EvmVenue[],
): SendPlan {
  const parsed = sendConfigSchema.safeParse(config);
  if (!parsed.success)
    throw rejected('CONFIG_INVALID', issuesLine(parsed.error, { under: 'config' }));
  if (!isDecimal(amount) || !isPositive(amount))
    throw rejected('CONFIG_INVALID', 'the amount must be greater than zero');
  const { source_chain_id, destination_chain_id, destination_address } = parsed.data;
  const from = endOf(bridgeOf(venues, source_chain_id), asset, 'TOKEN_ASSET_MISMATCH');
  const to = endOf(bridgeOf(venues, destination_chain_id), asset, 'DESTINATION_TOKEN_MISSING');
  return { from, to, payee: destination_address, amount };
}

/** What of the venue entries a send depends on, as it is written down with it. */
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

export function rejected(code: string, message: string): ExecutorFault {
  return new ExecutorFault('rejected', code, message);
}
