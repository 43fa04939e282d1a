/** What leaves at most: exact decimals in strings, added up by asset. */
import type { CompiledPlan } from '../../../../domain/plan/types.ts';
import type { PlannedSend } from '../../../../domain/send/planned-sends.ts';
import { sumByAsset } from '../../../parts/sums.ts';

/** `amount` in units of the asset; null where an output decides and nothing bounds it. */
export interface AssetAmount {
  readonly asset: string;
  readonly amount: string | null;
}

/** What the plan says that it moves at most; null where it says nothing, which is not "nothing". */
export function outflowOf(plan: CompiledPlan): readonly AssetAmount[] | null {
  // Plans from before outflows existed do not have it.
  const { outflow = null }: { readonly outflow?: CompiledPlan['outflow'] | null } = plan;
  return outflow === null ? null : sumByAsset(outflow);
}

export interface Fees {
  /** What the plan lets others keep at most, by asset. */
  readonly atMost: readonly AssetAmount[];
  /** Each node with a fee that the plan names. */
  readonly named: readonly {
    readonly node_key: string;
    readonly asset: string;
    readonly fee: string;
  }[];
  /** Nodes whose fee the plan does not name: the gas of a chain, the fee of a venue. */
  readonly unnamed: readonly string[];
}

/** Fees by what the plan says of each send; what it does not name is not counted as nothing. */
export function feesOf(sends: readonly PlannedSend[]): Fees {
  const named = sends.flatMap(({ node_key, asset, terms: { max_fee: fee } }) =>
    fee === null ? [] : [{ node_key, asset, fee }],
  );
  return {
    atMost: sumByAsset(named.map(({ asset, fee }) => ({ asset, amount: fee }))),
    named,
    unnamed: sends.filter(({ terms }) => terms.max_fee === null).map(({ node_key }) => node_key),
  };
}

/** `250.5 USDC and 1 ETH`; of an unbounded one that it is so. */
export function amountsInWords(entries: readonly AssetAmount[]): string {
  const parts = entries.map(
    ({ asset, amount }) => `${amount ?? 'an unbounded amount of'} ${asset}`,
  );
  const last = parts.pop() ?? 'nothing';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}
