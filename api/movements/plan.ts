/** From a create request to the compiled plan, or the first reason why there is none. */
import { ServiceError } from '../../domain/errors.ts';
import { RESERVED_ACTION } from '../../domain/plan/actions.ts';
import { resolveBindings } from '../../domain/plan/bindings.ts';
import { canonicalPlan, compilePlan } from '../../domain/plan/compile.ts';
import { nonExecutableReasons } from '../../domain/plan/executable.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import { sha256Hex } from '../../platform/hash.ts';
import { readTemplateForPlan } from '../../store/templates.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { intentOf } from './request.ts';
import type { CreateBody } from './schema.ts';

export interface Compiled {
  readonly plan: CompiledPlan;
  readonly compiled_plan_hash: string;
}

/** Checks in order: the version exists, can be executed, is not reserved, and every node binds to exactly one. */
export async function planOf(body: CreateBody, deps: ApiDependencies): Promise<Compiled> {
  const { template_key, template_version } = body;
  const template = await readTemplateForPlan(deps.db, template_key, template_version);
  if (template === null) throw new ServiceError('template_not_found', { context: { template_key, template_version } });
  const reasons = nonExecutableReasons(template);
  if (reasons.length > 0) throw new ServiceError('template_not_executable', { context: { template_key, template_version, reasons } });
  const reserved = template.nodes.find((node) => node.action_type === RESERVED_ACTION);
  if (reserved !== undefined) throw new ServiceError('reserved_template_family', { context: { node_key: reserved.node_key } });
  const { bindings, unresolved } = resolveBindings(template.nodes, { executors: deps.executors.list(), signers: deps.signers.list() });
  const [first] = unresolved;
  if (first !== undefined) throw new ServiceError('binding_unresolved', { context: { ...first, bindings: unresolved } });
  const plan = compilePlan(template, { intent: intentOf(body), input_params: body.input_params }, bindings);
  return { plan, compiled_plan_hash: sha256Hex(canonicalPlan(plan)) };
}
