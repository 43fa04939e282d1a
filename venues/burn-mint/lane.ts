/** The burn-and-mint lane: its executors, and what may be signed for its nodes. */
import type { Executor } from '../../domain/executor.ts';
import { actReader, type ActReader } from '../evm/act.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { createAttester } from './attester.ts';
import { burnAct } from './burn-act.ts';
import { createBurnExecutor } from './burn.ts';
import { burnMintPart } from './config.ts';
import { createMintExecutor, mintAct } from './mint.ts';

/** Of the chains that have a `cctp` entry; no executors where none has. */
export function createBurnMintExecutors(
  chains: EvmChains,
  venues: readonly EvmVenue[],
): readonly Executor[] {
  if (venues.every((venue) => burnMintPart.of(venue) === undefined)) return [];
  const lane = { chains, venues, attester: createAttester() };
  return [createBurnExecutor(lane), createMintExecutor(lane)];
}

/** What a burn or a mint may have signed, by its plan and what its burn recorded. */
export function burnMintActs(venues: readonly EvmVenue[]): ActReader {
  return actReader(burnAct(venues), mintAct(venues, undefined));
}
