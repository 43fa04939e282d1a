/**
 * Decides when a payment may be signed again with the same nonce. Stops (reasons to hold a send
 * back) are checked before signing, and again by the write that stores the new version.
 */
import type { Transition } from '../../domain/transition.ts';
import { readPhase, type PhaseRow } from '../../store/phases.ts';
import { standingOf, type StopSources } from './stops.ts';

/** What the write of the new version requires, or why no new version is allowed. */
export type MayReplace = Required<Pick<Transition, 'require'>> | { readonly why: string };

export interface Replaced {
  readonly accepted: boolean;
  /** Address that signed the payment. */
  readonly address: string;
  /** Value of the transaction in the chain's native coin. */
  readonly value: string;
}

export async function mayReplace(
  deps: StopSources,
  row: PhaseRow,
  { accepted, address, value }: Replaced,
): Promise<MayReplace> {
  const way = accepted ? 'replace_accepted' : 'replace_unaccepted';
  const { held, required } = await standingOf(deps, row, way, address, { value });
  return held === null ? { require: required } : { why: held.why };
}

/** Does what {@link mayReplace} does, for a payment that was mined and lost its block. */
export async function mayReplaceLost(
  deps: StopSources,
  claim: { readonly movement_id: string | null; readonly node_key: string | null },
  lost: Omit<Replaced, 'accepted'>,
): Promise<MayReplace> {
  const { movement_id, node_key } = claim;
  const row =
    movement_id === null || node_key === null
      ? null
      : await readPhase(deps.db, movement_id, node_key);
  if (row === null) return { why: 'the node of the payment does not exist' };
  return mayReplace(deps, row, { ...lost, accepted: true });
}
