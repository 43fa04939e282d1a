/** Creates the executors of burn-and-mint, and the reader of what its nodes may have signed. */
import type { Executor } from '../../domain/executor.ts';
import { actReader, type ActReader } from '../evm/act.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { createAttester } from './attester.ts';
import { burnAct } from './burn-act.ts';
import { createBurnExecutor } from './burn.ts';
import { burnMintPart } from './config.ts';
import { createMintExecutor, mintAct } from './mint.ts';

/** Returns the executors; none unless a chain has a `cctp` entry. */
export function createBurnMintExecutors(
  chains: EvmChains,
  venues: readonly EvmVenue[],
): readonly Executor[] {
  if (venues.every((venue) => burnMintPart.of(venue) === undefined)) return [];
  const lane = { chains, venues, attester: createAttester() };
  return [createBurnExecutor(lane), createMintExecutor(lane)];
}

export function burnMintActs(venues: readonly EvmVenue[]): ActReader {
  return actReader(burnAct(venues), mintAct(venues, undefined));
}
