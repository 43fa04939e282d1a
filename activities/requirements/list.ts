/**
 * The list of all requirements of sends. Callers use the list and never name a single requirement.
 */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { Stopped } from '../../domain/send/stops.ts';
import type { Transition } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { bridgePath } from './bridge-path.ts';
import { minter } from './minter.ts';
import { perpsAccount } from './perps-account.ts';
import { sendLane } from './send-lane.ts';
import type { Draft, Guard, Leaving, Requirement, RequirementSources } from './requirement.ts';

const REQUIREMENTS: readonly Requirement[] = [minter, bridgePath, perpsAccount, sendLane];

/** The guards of all requirements, whether or not a certain node needs them. */
export const GUARDS: readonly Guard[] = REQUIREMENTS.flatMap(({ guard }) => guard ?? []);

/** Returns the fields that the node's requirements add to its execution context. */
export async function termsOf(
  deps: RequirementSources,
  row: PhaseRow,
  draft: Draft,
): Promise<Partial<ExecutionContext>> {
  let terms: Partial<ExecutionContext> = {};
  for (const requirement of neededBy(row))
    terms = { ...terms, ...(await requirement.terms(deps, row, draft)) };
  return terms;
}

/** What the write of a send must check, and the stops that are known before that write. */
export interface Required {
  readonly requirements: NonNullable<NonNullable<Transition['require']>['requirements']>;
  readonly stops: readonly (Stopped & { readonly fault: ExecutorFault })[];
}

/** Collects what the database must check for the node's requirements before this send leaves. */
export async function requiredFor(
  deps: RequirementSources,
  row: PhaseRow,
  leaving: Leaving,
): Promise<Required> {
  const found: [Guard['kind'], object][] = [];
  const stops: Required['stops'][number][] = [];
  for (const { guard } of neededBy(row)) {
    try {
      const required = (await guard?.requires(deps, row, leaving)) ?? null;
      if (guard !== null && required !== null) found.push([guard.kind, required]);
    } catch (error) {
      if (guard === null || !(error instanceof ExecutorFault)) throw error;
      stops.push({ stop: guard.stop, why: error.message, fault: error });
    }
  }
  return { requirements: Object.fromEntries(found), stops };
}

/** Returns the address that signed for the node; null when no requirement stores the signer. */
export async function signerOnRecord(
  deps: RequirementSources,
  row: PhaseRow,
): Promise<string | null> {
  for (const { guard } of neededBy(row)) {
    const signer = (await guard?.signer(deps, row)) ?? null;
    if (signer !== null) return signer;
  }
  return null;
}

/** Returns the function that stores the node's signature; undefined: it is not stored. */
export function keeperOf(row: PhaseRow): Guard['keep'] {
  return neededBy(row).find(({ guard }) => guard?.keep !== undefined)?.guard?.keep;
}

/** Returns the requirements that apply to this node. */
export function neededBy(row: PhaseRow): readonly Requirement[] {
  return REQUIREMENTS.filter((requirement) => requirement.needs(row));
}
