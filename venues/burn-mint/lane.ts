/** The burn-and-mint lane: its executors, and what may be signed for its nodes. */
import type { Address } from 'viem';
import type { Executor } from '../../domain/executor.ts';
import { compare } from '../../domain/money.ts';
import type { SignedNode } from '../../domain/signing.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import type { ActReader, PlannedAct } from '../evm/signing.ts';
import { createAttester } from './attester.ts';
import { burnOn } from './burn-act.ts';
import { createBurnExecutor } from './burn.ts';
import { readBurnt } from './burnt.ts';
import { burnMintPart } from './config.ts';
import { actOf, createMintExecutor } from './mint.ts';
import { burnRefusal, readBurnPlan, rejected } from './plan.ts';

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
  return (signed, from) => {
    const { action_type } = signed.node;
    if (action_type === 'cctp_burn') return burnOf(signed, venues);
    return action_type === 'cctp_mint' ? mintOf(signed, from, venues) : null;
  };
}

function burnOf({ node, amount }: SignedNode, venues: readonly EvmVenue[]): PlannedAct {
  const plan = readBurnPlan({ config: node.config, asset: node.asset, amount }, venues);
  return { chain_id: plan.source.chain_id, act: burnOn(plan), refusal: burnRefusal(plan) };
}

function mintOf(
  { node, matched, amount, output = {} }: SignedNode,
  from: Address,
  venues: readonly EvmVenue[],
): PlannedAct {
  const burnt = readBurnt(
    { asset: node.asset, ...(matched === undefined ? {} : { matched }) },
    venues,
  );
  if (compare(amount, burnt.plan.amount) !== 0)
    throw rejected(
      'CONFIG_INVALID',
      `the mint is of ${amount}, and its burn burnt ${burnt.plan.amount}`,
    );
  return actOf(burnt, from, {
    assurance: 'provider_completed',
    progress: output,
    search: undefined,
  });
}
