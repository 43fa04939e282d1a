/**
 * Which depth of a block shows which completion assurance, as data. docs/venues.md is written from
 * it.
 */
import { COMPLETION_ASSURANCES, type CompletionAssurance } from '../executor.ts';

/** `confirmed`: as deep as the venue's `confirmations`. `final`: as `finality.ts` finds it. */
export type BlockDepth = 'confirmed' | 'final';

export interface AssuranceProof {
  /** How deep the block has to be. */
  readonly block: BlockDepth;
  /** What it proves there, in the words of the documentation. */
  readonly shown: string;
}

/** By rung, weakest first. */
export const ASSURANCE_PROOFS: Readonly<Record<CompletionAssurance, AssuranceProof>> = {
  provider_completed: {
    block: 'confirmed',
    shown: 'a chain has no other word for it than the receipt: as `destination_credited`',
  },
  destination_observed: {
    block: 'confirmed',
    shown: 'seen in the receipt of the transaction, or in the balance of the destination',
  },
  destination_credited: {
    block: 'confirmed',
    shown: 'the same: on a chain what is seen is credited',
  },
  destination_finalized: {
    block: 'final',
    shown: 'the same receipt or balance, in a block that cannot be taken back',
  },
  protocol_finalized: {
    block: 'final',
    shown: 'a transfer has no protocol but its chain; a watched balance never shows it',
  },
};

/** How deep the block must be that shows `assurance`. */
export function depthFor(assurance: CompletionAssurance): BlockDepth {
  return ASSURANCE_PROOFS[assurance].block;
}

/**
 * The strongest rung that a block of this depth shows, among those that the executor can show. A
 * final block is confirmed too. Throws where the executor can show none of them.
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
