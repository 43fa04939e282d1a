/**
 * The stops that are on for a node whose send was declared before. The fence asks for the first
 * send; everything that is sent after it asks here, each time.
 */
import { heldBy, type Held, type Stopped, type Way } from '../../domain/send/stops.ts';
import type { Transition } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { readStops } from '../../store/stops.ts';
import { requiredFor, signerOnRecord } from '../requirements/list.ts';
import type { Leaving, RequirementSources } from '../requirements/requirement.ts';
import { askedBy } from './allowlist.ts';
import type { PhaseDependencies } from './context.ts';

/** What the rule reads of a node, with the registered executors and signers. */
export type StopSources = RequirementSources & Pick<PhaseDependencies, 'executors'>;

/** What a send rests on now: as a write requires it once more, and what keeps it from leaving. */
export interface Standing {
  readonly held: Held | null;
  readonly required: NonNullable<Transition['require']>;
}

/** What holds back this way of sending what `address` signed; null where it may go now. */
export async function heldNow(
  deps: StopSources,
  row: PhaseRow,
  way: Way,
  address: string,
): Promise<Held | null> {
  return (await standingOf(deps, row, way, address)).held;
}

/**
 * The same with what it rests on. `said` is who signed, as the caller knows it; `signs` what is to
 * be signed anew, if anything is.
 */
export async function standingOf(
  deps: StopSources,
  row: PhaseRow,
  way: Way,
  said: string,
  signs: Leaving['signs'] = null,
): Promise<Standing> {
  const bound = row.node.signer_binding;
  const by = await askedBy(deps, row);
  // Who signed may be on record; what an executor is told of is the account of now.
  const signer = (await signerOnRecord(deps, row)) ?? said;
  const needed = await requiredFor(deps, row, { way, signer, signs, first: null });
  const required = {
    executors: [row.node.executor_binding.executor_key],
    signers: bound === null ? [] : [{ signer_key: bound.signer_key, address: signer }],
    addresses: by.ok ? by.asked : [],
    requirements: needed.requirements,
  };
  const stops: readonly Stopped[] = [
    ...(await readStops(deps.db, row, required)),
    ...(by.ok ? [] : [{ stop: 'payee_unusable' as const, why: by.message }]),
    ...needed.stops,
  ];
  return { held: heldBy(way, stops), required };
}
