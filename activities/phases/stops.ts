/**
 * Finds the stops (reasons to hold a send back) for a node that has already passed its fence. The
 * fence checks the first send; every later send is checked here.
 */
import { heldBy, type Held, type Stopped, type Way } from '../../domain/send/stops.ts';
import type { Transition } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { readStops } from '../../store/stops.ts';
import { requiredFor, signerOnRecord } from '../requirements/list.ts';
import type { Leaving, RequirementSources } from '../requirements/requirement.ts';
import { payeesOf } from './allowlist.ts';
import { clockStops } from './clock-wait.ts';
import type { PhaseDependencies } from './context.ts';

/** Dependencies that are needed to find a node's stops. */
export type StopSources = RequirementSources & Pick<PhaseDependencies, 'executors' | 'clocks'>;

/**
 * Whether a stop holds a send back (`held`; null when none does), and what the database must check.
 */
export interface Standing {
  readonly held: Held | null;
  readonly required: NonNullable<Transition['require']>;
}

/**
 * Returns the stop that forbids sending, in this way, the bytes that `address` signed; null if none
 * does.
 */
export async function heldNow(
  deps: StopSources,
  row: PhaseRow,
  way: Way,
  address: string,
): Promise<Held | null> {
  return (await standingOf(deps, row, way, address)).held;
}

/**
 * Returns the same as {@link heldNow}, with the requirements of the write. `said`: the signer's
 * address as far as the caller knows; `signs`: the payload to be signed again, if any.
 */
export async function standingOf(
  deps: StopSources,
  row: PhaseRow,
  way: Way,
  said: string,
  signs: Leaving['signs'] = null,
): Promise<Standing> {
  const bound = row.node.signer_binding;
  const payees = await payeesOf(deps, row);
  // The address stored with the signature wins: `said` may be the signer's present account.
  const signer = (await signerOnRecord(deps, row)) ?? said;
  const needed = await requiredFor(deps, row, { way, signer, signs, first: null });
  const required = {
    executors: [row.node.executor_binding.executor_key],
    signers: bound === null ? [] : [{ signer_key: bound.signer_key, address: signer }],
    addresses: payees.ok ? payees.addresses : [],
    requirements: needed.requirements,
  };
  const apart = clockStops(deps, row);
  const stops: readonly Stopped[] = [
    ...(await readStops(deps.db, row, required)),
    ...(payees.ok ? [] : [{ stop: 'payee_unusable' as const, why: payees.fault.message }]),
    ...needed.stops,
    ...(apart === null ? [] : [{ stop: 'clock' as const, why: apart }]),
  ];
  return { held: heldBy(way, stops), required };
}
