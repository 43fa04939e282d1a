/** Whether an agent's authority covers what its movement would do. */
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

/** The limits of an authority that does not exist. */
const NOTHING: AuthorityLimits = {
  max_notional: null,
  allowed_assets: [],
  allowed_chains: [],
  max_ttl_seconds: null,
};

export interface Coverage {
  readonly limits: AuthorityLimits;
  /** What an administrator has promoted of the plan's version. */
  readonly grant: Grant | null;
  readonly uncovered: readonly Uncovered[];
}

/** What the authority says of the plan as things stand now. */
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

/** Why the caller may not create this; nothing for a caller who is no agent. */
export async function coverRefusals(
  plan: CompiledPlan,
  caller: Caller | undefined,
  deps: Pick<ApiDependencies, 'db' | 'chains'>,
): Promise<readonly ServiceError[]> {
  if (caller?.role !== 'agent') return [];
  const { uncovered } = await coverageOf(plan, agentOf(namespaceOf(caller)) ?? '', deps);
  return uncovered.map(({ code, ...context }) => new ServiceError(code, { context }));
}
