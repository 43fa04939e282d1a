/** Compiles a create request to a plan, or collects every reason why no plan is possible. */
import { ServiceError } from '../../domain/errors.ts';
import { specOf } from '../../domain/actions/built-in.ts';
import { isReservedTemplate } from '../../domain/plan/template.ts';
import { takesBack } from '../../domain/plan/amount.ts';
import { excessBefore, excessOf, type Excess } from '../../domain/plan/bounds.ts';
import { unsupportedAssurances } from '../../domain/plan/assurance.ts';
import { resolveBindings, type ResolvedBindings } from '../../domain/plan/bindings.ts';
import { canonicalPlan, compilePlan, withoutAssetCode } from '../../domain/plan/compile.ts';
import { unreadFields } from '../../domain/send/intent.ts';
import { tokenMismatch } from '../../domain/plan/tokens.ts';
import type { CompiledPlan, PlanTemplate } from '../../domain/plan/types.ts';
import { isObject } from '../../domain/json.ts';
import { isDecimal, isPositive } from '../../domain/money.ts';
import type { Caller } from '../../domain/roles.ts';
import { sha256Hex } from '../../platform/hash.ts';
import { readReplacedSigners } from '../../store/signer-lifecycle.ts';
import { judged, readTemplateForPlan } from '../../store/templates.ts';
import { coverRefusals } from './covered.ts';
import { pathRefusals } from './bridge-paths.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { invalidRequest } from '../http/issues.ts';
import {
  addressRefusals,
  checkAddresses,
  MOST_DESTINATIONS,
  type AddressCheck,
} from './addresses.ts';
import { intentOf } from './request.ts';
import type { CreateBody } from './schema.ts';

export interface Compiled {
  readonly plan: CompiledPlan;
  readonly compiled_plan_hash: string;
}

/** A plan that can be created, with the payees that it would pay. */
export interface Creatable extends Compiled {
  readonly addresses: readonly AddressCheck[];
}

/** Everything known about a request. A create and its preview both use this result. */
export interface Assessment {
  readonly template: PlanTemplate;
  readonly resolved: ResolvedBindings;
  /** Why nothing can be created, in the order of a create's checks; a create throws the first. */
  readonly refusals: readonly ServiceError[];
  /** Null when no plan can be made of the request. */
  readonly compiled: Compiled | null;
  /** The plan's payees; empty without a plan. */
  readonly addresses: readonly AddressCheck[];
}

/** The fields of a request from which its plan is compiled. */
export type PlanRequest = Pick<
  CreateBody,
  'template_key' | 'template_version' | 'intent' | 'input_params'
>;

export interface AssessOptions {
  /** Allows reserved templates; only for movements that the service itself creates. */
  readonly reserved?: boolean;
  /** The caller; an agent may create only what its authority covers. */
  readonly caller?: Caller;
  /** The only signer that may be bound, or what replaced it, whatever profiles others have. */
  readonly signer?: string;
}

/** Judges everything that can be checked without writing; throws only for an unknown version. */
export async function assess(
  body: PlanRequest,
  deps: ApiDependencies,
  { reserved = false, caller, signer }: AssessOptions = {},
): Promise<Assessment> {
  const { template_key, template_version } = body;
  const template = await readTemplateForPlan(deps.db, template_key, template_version);
  if (template === null)
    throw new ServiceError('template_not_found', { context: { template_key, template_version } });
  const signs = template.nodes.some(
    ({ signer_selector, action_type }) =>
      signer_selector !== undefined || specOf(action_type).signs !== null,
  );
  const resolved = resolveBindings(template.nodes, {
    executors: deps.executors.list(),
    signers: deps.signers.list(),
    replaced: signs ? await readReplacedSigners(deps.db) : [],
    signer,
  });
  const reasons = await judged(deps.db, template.template_id, template);
  const refusals = [
    ...refusalsOf(template, { ...resolved, reasons, reserved }),
    ...tooLarge(excessBefore(template, body.input_params)),
  ];
  const without = (refused: readonly ServiceError[]): Assessment => ({
    template,
    resolved,
    refusals: refused,
    compiled: null,
    addresses: [],
  });
  if (refusals.length > 0) return without(refusals);
  const { canonical, ...compiled } = compiledFrom(template, body, resolved, deps);
  const excess = tooLarge(excessOf(canonical));
  if (excess.length > 0) return without(excess);
  const addresses = await checkAddresses(compiled.plan, deps);
  if (addresses === null) return without(tooLarge({ part: 'payees', limit: MOST_DESTINATIONS }));
  const found = [
    ...addressRefusals(addresses),
    ...assuranceRefusals(compiled.plan, deps),
    ...fundsRefusals(compiled.plan, deps),
    ...requestRefusals(compiled.plan, deps),
    ...(await pathRefusals(compiled.plan, deps)),
    ...(await coverRefusals(compiled.plan, caller, deps)),
  ];
  return { template, resolved, refusals: found, compiled, addresses };
}

/** Returns the compiled plan, or throws the first refusal. */
export async function planOf(
  body: PlanRequest,
  deps: ApiDependencies,
  options: AssessOptions = {},
): Promise<Creatable> {
  const { compiled, refusals, addresses } = await assess(body, deps, options);
  const [first] = refusals;
  if (first !== undefined) throw first;
  if (compiled === null) throw new Error('the request has neither a plan nor a refusal');
  return { ...compiled, addresses };
}

/** Returns one refusal with every node whose executor can never reach the required assurance. */
function assuranceRefusals(
  { nodes }: CompiledPlan,
  deps: Pick<ApiDependencies, 'executors'>,
): readonly ServiceError[] {
  const shown = new Map(
    deps.executors
      .list()
      .map((executor) => [executor.executor_key, executor.completion_assurances]),
  );
  const unsupported = unsupportedAssurances(nodes, (key) => shown.get(key) ?? []);
  const [first] = unsupported;
  return first === undefined
    ? []
    : [
        new ServiceError('completion_assurance_unsupported', {
          context: { ...first, nodes: unsupported },
        }),
      ];
}

/**
 * Returns the refusals of a version that cannot be executed or is reserved, or whose nodes do not
 * each bind to exactly one executor and signer.
 */
function refusalsOf(
  template: PlanTemplate,
  {
    unresolved,
    reasons,
    reserved: allowed,
  }: ResolvedBindings & { readonly reasons: readonly string[]; readonly reserved: boolean },
): readonly ServiceError[] {
  const { template_key, version: template_version } = template;
  const refusals: ServiceError[] = [];
  if (reasons.length > 0) {
    refusals.push(
      new ServiceError('template_not_executable', {
        context: { template_key, template_version, reasons },
      }),
    );
  }
  const topUp = template.nodes.find((node) => specOf(node.action_type).reserved);
  if (!allowed && (topUp !== undefined || isReservedTemplate(template_key)))
    refusals.push(
      new ServiceError('reserved_template_family', {
        context: topUp === undefined ? { template_key } : { node_key: topUp.node_key },
      }),
    );
  const [first] = unresolved;
  if (first !== undefined)
    refusals.push(
      new ServiceError('binding_unresolved', { context: { ...first, bindings: unresolved } }),
    );
  return refusals;
}

/**
 * Returns the refusal of a plan that does not move the intent's asset: an approver who reads the
 * intent would approve something else.
 */
function fundsRefusals(
  { nodes, intent }: CompiledPlan,
  { chains }: ApiDependencies,
): readonly ServiceError[] {
  const assets = [...new Set(nodes.filter((node) => node.sends).map((node) => node.asset))].sort();
  const moved = assets.length === 0 || assets.includes(intent.asset);
  const unnamed = withoutAssetCode(nodes).map((key) => ({
    path: `nodes.${key}.config.asset`,
    code: 'invalid_value',
    message:
      'must be 1 to 32 characters of printable ASCII without spaces, from the template or from node_config',
  }));
  return [
    ...(unnamed.length === 0 ? [] : [invalidRequest(unnamed)]),
    ...(moved
      ? []
      : [
          new ServiceError('intent_asset_not_moved', {
            context: { asset: intent.asset, moved: assets },
          }),
        ]),
    ...nodes.flatMap((node) => {
      const mismatch = tokenMismatch(node, chains);
      return mismatch === null
        ? []
        : [new ServiceError('token_asset_mismatch', { context: { ...mismatch } })];
    }),
  ];
}

/**
 * Returns the refusal of a request of which a part would be approved and have no effect: a field of
 * the intent that nothing reads, or an amount of 0 that would be sent.
 */
function requestRefusals(
  plan: CompiledPlan,
  { executors }: Pick<ApiDependencies, 'executors'>,
): readonly ServiceError[] {
  const local = new Set(
    executors
      .list()
      .filter(({ kind }) => kind === 'local')
      .map(({ executor_key }) => executor_key),
  );
  const issues = unreadFields(plan, local).map((field) => ({
    path: `intent.${field}`,
    code: 'invalid_value',
    message:
      "is in no node of the plan: the template does not take it from the intent. Leave it out, or send the node's own field in input_params.node_config where the template leaves that open",
  }));
  if (sendsNothing(plan))
    issues.push({
      path: 'input_params.node_config.amount',
      code: 'invalid_value',
      message:
        'must be greater than zero; only a node that takes an allowance back has the amount 0',
    });
  return issues.length === 0 ? [] : [invalidRequest(issues)];
}

/** Returns whether the caller's amount is 0 and a node would send it. */
function sendsNothing({ nodes, input_params: { node_config: shared } }: CompiledPlan): boolean {
  const amount = isObject(shared) ? shared['amount'] : undefined;
  if (typeof amount !== 'string' || !isDecimal(amount) || isPositive(amount)) return false;
  return nodes.some((node) => node.sends && node.config['amount'] === amount && !takesBack(node));
}

function tooLarge(
  excess: Excess | { readonly part: 'payees'; readonly limit: number } | null,
): readonly ServiceError[] {
  return excess === null ? [] : [new ServiceError('plan_too_large', { context: { ...excess } })];
}

function compiledFrom(
  template: PlanTemplate,
  body: PlanRequest,
  { bindings }: ResolvedBindings,
  { chains }: Pick<ApiDependencies, 'chains'>,
): Compiled & { readonly canonical: string } {
  const plan = compilePlan(
    template,
    { intent: intentOf(body), input_params: body.input_params },
    bindings,
    chains,
  );
  const canonical = canonicalPlan(plan);
  return { plan, compiled_plan_hash: sha256Hex(canonical), canonical };
}
