/** From a create request to the compiled plan, or every reason why there is none. */
import { ServiceError } from '../../domain/errors.ts';
import { RESERVED_ACTION } from '../../domain/plan/actions.ts';
import { resolveBindings, type ResolvedBindings } from '../../domain/plan/bindings.ts';
import { canonicalPlan, compilePlan } from '../../domain/plan/compile.ts';
import { nonExecutableReasons } from '../../domain/plan/executable.ts';
import type { CompiledPlan, PlanTemplate } from '../../domain/plan/types.ts';
import { sha256Hex } from '../../platform/hash.ts';
import { readTemplateForPlan } from '../../store/templates.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { addressRefusals, checkAddresses, type AddressCheck } from './addresses.ts';
import { intentOf } from './request.ts';
import type { CreateBody } from './schema.ts';

export interface Compiled {
  readonly plan: CompiledPlan;
  readonly compiled_plan_hash: string;
}

/** What a request comes to. A create and its preview both read it, so that they cannot disagree. */
export interface Assessment {
  readonly template: PlanTemplate;
  readonly resolved: ResolvedBindings;
  /** Why nothing can be created, in the order in which a create looks; it is refused with the first. */
  readonly refusals: readonly ServiceError[];
  /** Null where no plan can be made of the request. */
  readonly compiled: Compiled | null;
  /** What the plan would pay; empty without a plan. */
  readonly addresses: readonly AddressCheck[];
}

/** Looks at everything that can be told without writing; throws only when the version does not exist. */
export async function assess(body: CreateBody, deps: ApiDependencies): Promise<Assessment> {
  const { template_key, template_version } = body;
  const template = await readTemplateForPlan(deps.db, template_key, template_version);
  if (template === null) throw new ServiceError('template_not_found', { context: { template_key, template_version } });
  const resolved = resolveBindings(template.nodes, { executors: deps.executors.list(), signers: deps.signers.list() });
  const refusals = refusalsOf(template, resolved);
  if (refusals.length > 0) return { template, resolved, refusals, compiled: null, addresses: [] };
  const compiled = compiledFrom(template, body, resolved);
  const addresses = await checkAddresses(compiled.plan, deps);
  return { template, resolved, refusals: addressRefusals(addresses), compiled, addresses };
}

/** The compiled plan, or the first refusal. */
export async function planOf(body: CreateBody, deps: ApiDependencies): Promise<Compiled> {
  const { compiled, refusals } = await assess(body, deps);
  const [first] = refusals;
  if (first !== undefined) throw first;
  if (compiled === null) throw new Error('a plan was neither compiled nor refused');
  return compiled;
}

/** The version can be executed, is not reserved, and every node binds to exactly one executor and signer. */
function refusalsOf(template: PlanTemplate, { unresolved }: ResolvedBindings): readonly ServiceError[] {
  const { template_key, version: template_version } = template;
  const refusals: ServiceError[] = [];
  const reasons = nonExecutableReasons(template);
  if (reasons.length > 0) {
    refusals.push(new ServiceError('template_not_executable', { context: { template_key, template_version, reasons } }));
  }
  const reserved = template.nodes.find((node) => node.action_type === RESERVED_ACTION);
  if (reserved !== undefined) {
    refusals.push(new ServiceError('reserved_template_family', { context: { node_key: reserved.node_key } }));
  }
  const [first] = unresolved;
  if (first !== undefined) refusals.push(new ServiceError('binding_unresolved', { context: { ...first, bindings: unresolved } }));
  return refusals;
}

function compiledFrom(template: PlanTemplate, body: CreateBody, { bindings }: ResolvedBindings): Compiled {
  const plan = compilePlan(template, { intent: intentOf(body), input_params: body.input_params }, bindings);
  return { plan, compiled_plan_hash: sha256Hex(canonicalPlan(plan)) };
}
