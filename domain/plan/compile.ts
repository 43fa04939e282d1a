/** Compiles a template version and an intent to the plan that is approved, hashed and run. */
import canonicalize from 'canonicalize';
import { isSending, specOf } from '../actions/built-in.ts';
import { isObject, type JsonObject } from '../json.ts';
import { requiredAssurances } from './assurance.ts';
import type { NodeBindings } from './bindings.ts';
import { outflowOf } from './flow.ts';
import { frozen, kept } from './kept.ts';
import { firstLegOf, namedFirstLeg } from './legs.ts';
import { carriedToken, carrierOf, NO_CHAINS, type ChainAssets } from './tokens.ts';
import type { CompiledNode, CompiledPlan, Intent, PlanTemplate, TemplateNode } from './types.ts';

/** The config that a request adds to every node if it names none: always the same object. */
const NO_CONFIG = frozen<JsonObject>({});

/**
 * Compiles the plan. If `input_params.node_config` is an object, its keys are added to every node's
 * config; for a key in both, the template's value is used. The plan contains the most it can move,
 * so the plan's hash covers that too. Without such an object, what the plan has of its template is
 * kept for it and frozen, so neither template nor bindings may be changed.
 */
export function compilePlan(
  template: PlanTemplate,
  request: { readonly intent: Intent; readonly input_params: JsonObject },
  bindings: ReadonlyMap<string, NodeBindings>,
  chains: ChainAssets = NO_CHAINS,
): CompiledPlan {
  const { intent, input_params } = request;
  const { asset } = intent;
  const shared = sharedConfig(input_params);
  const parts =
    shared === NO_CONFIG
      ? keptParts(template, bindings, chains, asset)
      : templateParts(template, bindings, { shared, asset, chains });
  return { ...parts, outflow: outflowOf({ ...parts, intent }), intent, input_params };
}

/** The parts of a plan that depend neither on the amount nor on the payee of its intent. */
type TemplateParts = Omit<CompiledPlan, 'outflow' | 'intent' | 'input_params'>;

function templateParts(
  template: PlanTemplate,
  bindings: ReadonlyMap<string, NodeBindings>,
  from: {
    readonly shared: JsonObject;
    readonly asset: string;
    readonly chains: ChainAssets;
  },
): TemplateParts {
  const required = requiredAssurances(template);
  const compiled = template.nodes.map((node) => ({
    ...withPuller(compileNode(node, from, bindings), from.chains),
    completion_assurance:
      required.get(node.node_key) ?? template.completion_policy.completion_assurance,
  }));
  return {
    template: {
      template_id: template.template_id,
      template_key: template.template_key,
      version: template.version,
    },
    nodes: compiled.map((node) => assetOfFirstLeg(node, compiled)),
    edges: template.edges,
    risk_controls: template.risk_controls,
    completion_policy: template.completion_policy,
  };
}

/** The parts that `keptParts` returned: they never change, so nor does their canonical text. */
const FROZEN_PARTS = new WeakSet<object>();

const keptParts = kept(
  (
    template: PlanTemplate,
    bindings: ReadonlyMap<string, NodeBindings>,
    chains: ChainAssets,
    asset: string,
  ): TemplateParts => {
    const parts = frozen(templateParts(template, bindings, { shared: NO_CONFIG, asset, chains }));
    for (const part of Object.values(parts)) FROZEN_PARTS.add(part);
    return parts;
  },
);

function compileNode(
  node: TemplateNode,
  from: { readonly shared: JsonObject; readonly asset: string },
  bindings: ReadonlyMap<string, NodeBindings>,
): CompiledNode {
  const bound = bindings.get(node.node_key);
  if (bound === undefined) throw new Error(`node ${node.node_key} has no binding to compile`);
  const {
    executor_selector: _executor,
    signer_selector: _signer,
    config: own = {},
    ...kept
  } = node;
  const config = { ...from.shared, ...own, ...broughtAmount(node) };
  // If the template takes the amount from another node's output, a caller's amount would contradict
  // it.
  const passesOn = Object.hasOwn(own, 'amount_ref') && !Object.hasOwn(own, 'amount');
  if (passesOn || specOf(node.action_type).amount === 'first_leg') delete config['amount'];
  // Only the template sets the text that an operator reads at a gate.
  if (node.node_kind === 'manual_gate' && !Object.hasOwn(own, 'description'))
    delete config['description'];
  const { executor_sends: executorSends = true, ...binding } = bound;
  const sends = isSending(node, executorSends);
  return {
    ...kept,
    has_side_effect: node.has_side_effect || sends,
    sends,
    asset: assetOfConfig(config, from.asset),
    config,
    ...binding,
  };
}

/** Sets the asset of a bridge's second leg to its first leg's, whatever the config contains. */
function assetOfFirstLeg(node: CompiledNode, nodes: readonly CompiledNode[]): CompiledNode {
  const first = namedFirstLeg(node, nodes);
  return first === undefined ? node : { ...node, asset: first.asset };
}

/**
 * Adds the contract that pulls the funds of this node, so that the allowances for it can be
 * recognised.
 */
function withPuller(node: CompiledNode, chains: ChainAssets): CompiledNode {
  const { source_chain_id: chain } = node.config;
  const { puller, crossing } = specOf(node.action_type);
  if (puller === null || crossing === null) return node;
  const { lane } = crossing;
  if (puller === 'burner') {
    const from = chains.find(({ chain_id }) => chain_id === chain);
    const burner = carrierOf(from, lane, node.asset);
    return burner === undefined ? node : { ...node, pulled_by: burner };
  }
  const carried = carriedToken(chains, lane, { chainId: chain, asset: node.asset });
  // A token contract that sends across chains itself needs no allowance.
  if (carried === null || carried.carrier.toLowerCase() === carried.token.toLowerCase())
    return node;
  return { ...node, pulled_by: carried.carrier, pulled_token: carried.token };
}

/** Returns a mint's amount source: the amount that its burn sent, whatever the config contains. */
function broughtAmount(node: TemplateNode): JsonObject {
  const first = specOf(node.action_type).amount === 'first_leg' ? firstLegOf(node) : null;
  return first === null ? {} : { amount_ref: `nodes.${first}.output.submitted_amount` };
}

/** Returns the asset that a node moves: its config's, in upper case, else the intent's. */
function assetOfConfig({ asset }: JsonObject, intentAsset: string): string {
  return typeof asset === 'string' && asset !== '' ? asset.toUpperCase() : intentAsset;
}

/** Printable ASCII only: codes that look alike must not be two assets. */
const ASSET_CODE = /^[!-~]{1,32}$/;

/**
 * Returns the nodes whose config holds an invalid asset code. Config without an asset code is
 * valid: the node then uses the intent's asset.
 */
export function withoutAssetCode(
  nodes: readonly Pick<CompiledNode, 'node_key' | 'config'>[],
): readonly string[] {
  return nodes.flatMap(({ node_key, config: { asset = null } }) =>
    asset === null || asset === '' || (typeof asset === 'string' && ASSET_CODE.test(asset))
      ? []
      : [node_key],
  );
}

function sharedConfig(inputParams: JsonObject): JsonObject {
  const shared = inputParams['node_config'];
  return isObject(shared) ? shared : NO_CONFIG;
}

/**
 * Returns the RFC 8785 canonical JSON of a plan: equal plans give equal text, whatever the order of
 * their keys.
 */
export function canonicalPlan(plan: CompiledPlan): string {
  // A stored plan that somebody has changed may be no object.
  if (!isObject(plan)) return canonicalText(plan);
  const parts: readonly (readonly [string, unknown])[] = Object.entries(plan);
  const members = parts
    .filter(([, part]) => part !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([key, part]) =>
        `${canonicalText(key)}:${isFrozen(part) ? keptText(part) : canonicalText(part)}`,
    );
  return `{${members.join(',')}}`;
}

const keptText = kept((part: object) => canonicalText(part));

function isFrozen(part: unknown): part is object {
  return typeof part === 'object' && part !== null && FROZEN_PARTS.has(part);
}

function canonicalText(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('the plan cannot be written as canonical JSON');
  return text;
}
