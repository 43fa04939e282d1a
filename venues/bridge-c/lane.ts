/** Creates the executors of bridge_c, and the reader of what its nodes may have signed. */
import type { Executor } from '../../domain/executor.ts';
import { actReader, type ActReader } from '../evm/act.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { bridgeCPart } from './config.ts';
import { createBridgeObserveExecutor } from './observe.ts';
import { sendAct } from './send-act.ts';
import { createBridgeSendExecutor } from './send.ts';

/** Returns the executors; none unless a chain has a `bridge_c` entry. */
export function createBridgeCExecutors(
  chains: EvmChains,
  venues: readonly EvmVenue[],
): readonly Executor[] {
  if (venues.every((venue) => bridgeCPart.of(venue) === undefined)) return [];
  const bridge = { chains, venues };
  return [createBridgeSendExecutor(bridge), createBridgeObserveExecutor(chains)];
}

export function bridgeCActs(venues: readonly EvmVenue[]): ActReader {
  return actReader(sendAct(venues));
}
