/**
 * Which block depth proves which completion assurance, as data. docs/venues.md is generated from
 * it.
 */
import { COMPLETION_ASSURANCES, type CompletionAssurance } from '../executor.ts';

/**
 * `confirmed`: as deep as the venue's `confirmations`. `final`: final as `finality.ts` defines it.
 */
export type BlockDepth = 'confirmed' | 'final';

export interface AssuranceProof {
  /** How deep the block must be. */
  readonly block: BlockDepth;
  /** What a block of this depth proves, as the documentation states it. */
  readonly shown: string;
}

/** Keyed by assurance, weakest first. */
export const ASSURANCE_PROOFS: Readonly<Record<CompletionAssurance, AssuranceProof>> = {
  provider_completed: {
    block: 'confirmed',
    shown: 'a chain reports only the receipt: as `destination_credited`',
  },
  destination_observed: {
    block: 'confirmed',
    shown: 'seen in the receipt of the transaction, or in the balance of the destination',
  },
  destination_credited: {
    block: 'confirmed',
    shown: 'the same: on a chain, a visible transfer is credited',
  },
  destination_finalized: {
    block: 'final',
    shown: 'the same receipt or balance, in a block that cannot be taken back',
  },
  protocol_finalized: {
    block: 'final',
    shown: 'the chain is the only protocol of a transfer; a watched balance never proves it',
  },
};

/** Returns how deep a block must be to prove `assurance`. */
export function depthFor(assurance: CompletionAssurance): BlockDepth {
  return ASSURANCE_PROOFS[assurance].block;
}

/**
 * Returns the strongest assurance that a block of this depth proves, among those that the executor
 * supports. A final block is confirmed too. Throws if none of them is proven.
 */
export function shownAt(
  depth: BlockDepth,
  among: readonly CompletionAssurance[],
): CompletionAssurance {
  const shown = COMPLETION_ASSURANCES.filter(
    (rung) => among.includes(rung) && (depth === 'final' || depthFor(rung) === 'confirmed'),
  ).at(-1);
  if (shown === undefined) throw new Error(`a ${depth} block shows none of ${among.join(', ')}`);
  return shown;
}
