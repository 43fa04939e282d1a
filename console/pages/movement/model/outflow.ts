/** The most that a plan moves: exact decimal strings, summed by asset. */
import type { CompiledPlan } from '../../../../domain/plan/types.ts';
import type { PlannedSend } from '../../../../domain/send/planned-sends.ts';
import { sumByAsset } from '../../../parts/sums.ts';

/** `amount` in units of the asset; null when a node's output decides it and nothing limits it. */
export interface AssetAmount {
  readonly asset: string;
  readonly amount: string | null;
}

/**
 * Returns the most that the plan moves; null when the plan does not say, which does not mean
 * nothing.
 */
export function outflowOf(plan: CompiledPlan): readonly AssetAmount[] | null {
  // Plans compiled before outflows existed do not have the field.
  const { outflow = null }: { readonly outflow?: CompiledPlan['outflow'] | null } = plan;
  return outflow === null ? null : sumByAsset(outflow);
}

export interface Fees {
  /** The most that the plan allows others to keep, by asset. */
  readonly atMost: readonly AssetAmount[];
  /** Plan nodes whose fee the plan names. */
  readonly named: readonly {
    readonly node_key: string;
    readonly asset: string;
    readonly fee: string;
  }[];
  /** Plan nodes whose fee the plan does not name, such as a chain's gas or a venue's fee. */
  readonly unnamed: readonly string[];
}

/**
 * Returns the fees that the plan names for each send. An unnamed fee is listed, not counted as 0.
 */
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

/** Returns amounts such as `250.5 USDC and 1 ETH`; an unlimited amount is called unbounded. */
export function amountsInWords(entries: readonly AssetAmount[]): string {
  const parts = entries.map(
    ({ asset, amount }) => `${amount ?? 'an unbounded amount of'} ${asset}`,
  );
  const last = parts.pop() ?? 'nothing';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}
