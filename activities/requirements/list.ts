/** All requirements of sends. Who asks for them goes through this list, and names none. */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { Stopped } from '../../domain/send/stops.ts';
import type { Transition } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { bridgePath } from './bridge-path.ts';
import { minter } from './minter.ts';
import { perpsAccount } from './perps-account.ts';
import type { Draft, Guard, Leaving, Requirement, RequirementSources } from './requirement.ts';

const REQUIREMENTS: readonly Requirement[] = [minter, bridgePath, perpsAccount];

/** Of every node, also of those that need none of them now. */
export const GUARDS: readonly Guard[] = REQUIREMENTS.flatMap(({ guard }) => guard ?? []);

/** What the node's context says of all that it needs. */
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

/** What the write of a send has to find, and the stops that are known without asking it. */
export interface Required {
  readonly requirements: NonNullable<NonNullable<Transition['require']>['requirements']>;
  readonly stops: readonly (Stopped & { readonly fault: ExecutorFault })[];
}

/** What has to be found of all that the node needs, for something that is about to leave. */
export async function requiredFor(
  deps: RequirementSources,
  row: PhaseRow,
  leaving: Leaving,
): Promise<Required> {
  const found: [Guard['kind'], object][] = [];
  const stops: Required['stops'][number][] = [];
  for (const { guard } of neededBy(row)) {
    try {
      const asked = (await guard?.asked(deps, row, leaving)) ?? null;
      if (guard !== null && asked !== null) found.push([guard.kind, asked]);
    } catch (error) {
      if (guard === null || !(error instanceof ExecutorFault)) throw error;
      stops.push({ stop: guard.stop, why: error.message, fault: error });
    }
  }
  return { requirements: Object.fromEntries(found), stops };
}

/** Who has signed for the node, where a requirement has it on record. */
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

/** What keeps the signature of a message that is signed for the node; undefined: nothing does. */
export function keeperOf(row: PhaseRow): Guard['keep'] {
  return neededBy(row).find(({ guard }) => guard?.keep !== undefined)?.guard?.keep;
}

/** What this node needs of venues. */
export function neededBy(row: PhaseRow): readonly Requirement[] {
  return REQUIREMENTS.filter((requirement) => requirement.needs(row));
}
