/** Checks whether an agent's authority covers its movement. */
import {
  uncoveredBy,
  type AuthorityLimits,
  type Grant,
  type Uncovered,
} from '../../domain/agents/authority.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import { namespaceOf, type Caller } from '../../domain/roles.ts';
import { readAuthority } from '../../store/keys.ts';
import { agentOf } from '../../store/namespaces.ts';
import { readGrant } from '../../store/proposals.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** Limits that cover nothing, for an authority that does not exist. */
const NOTHING: AuthorityLimits = {
  max_notional: null,
  allowed_assets: [],
  allowed_chains: [],
  max_ttl_seconds: null,
};

export interface Coverage {
  readonly limits: AuthorityLimits;
  /** The grant with which an administrator promoted the plan's version; null without one. */
  readonly grant: Grant | null;
  readonly uncovered: readonly Uncovered[];
}

/** Returns how far the authority's current limits cover the plan. */
export async function coverageOf(
  plan: CompiledPlan,
  authorityKey: string,
  { db, chains }: Pick<ApiDependencies, 'db' | 'chains'>,
): Promise<Coverage> {
  const [authority, grant] = await Promise.all([
    readAuthority(db, authorityKey),
    readGrant(db, plan.template.template_id),
  ]);
  const limits = authority ?? NOTHING;
  return { limits, grant, uncovered: uncoveredBy(plan, limits, grant, chains) };
}

/** Returns why the caller may not create the plan; empty for a caller who is not an agent. */
export async function coverRefusals(
  plan: CompiledPlan,
  caller: Caller | undefined,
  deps: Pick<ApiDependencies, 'db' | 'chains'>,
): Promise<readonly ServiceError[]> {
  if (caller?.role !== 'agent') return [];
  const { uncovered } = await coverageOf(plan, agentOf(namespaceOf(caller)) ?? '', deps);
  return uncovered.map(({ code, ...context }) => new ServiceError(code, { context }));
}
