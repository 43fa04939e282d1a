/** The judgement of a proposal: its plan, if one is possible, and all reasons against it. */
import canonicalize from 'canonicalize';
import { beyondLimits, type AuthorityLimits } from '../../domain/agents/authority.ts';
import { blueprintOf, type Blueprint } from '../../domain/actions/blueprints/index.ts';
import { inTheirOrder, type Proposal, type ProposalReason } from '../../domain/agents/proposal.ts';
import { questionOf } from '../../domain/allowlist/ask.ts';
import { problemOf } from '../../domain/allowlist/match.ts';
import { pathContracts } from '../../domain/bridges/contracts.ts';
import { pathReadiness } from '../../domain/bridges/path-ready.ts';
import { validateGraph } from '../../domain/graph/validate.ts';
import { compare } from '../../domain/money.ts';
import { unsupportedAssurances } from '../../domain/plan/assurance.ts';
import { resolveBindings, type ResolvedBindings } from '../../domain/plan/bindings.ts';
import { compilePlan } from '../../domain/plan/compile.ts';
import { nonExecutableReasons } from '../../domain/executable.ts';
import { tokenMismatch } from '../../domain/plan/tokens.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { sha256Hex } from '../../platform/hash.ts';
import { readListed } from '../../store/allowlist.ts';
import { readPathFacts } from '../../store/bridge-registry.ts';
import { readReplacedSigners } from '../../store/signer-lifecycle.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { paidBy } from '../movements/addresses.ts';

export interface Judgement {
  /** All reasons, sorted; empty: the service promotes the proposal without an administrator. */
  readonly reasons: readonly ProposalReason[];
  /** Null when no plan can be made of the proposal; `problem` says why. */
  readonly blueprint: Blueprint | null;
  readonly problem: string | null;
}

/** Judges everything about a proposal that can be checked without writing. */
export async function judge(
  proposal: Proposal,
  limits: AuthorityLimits,
  deps: ApiDependencies,
): Promise<Judgement> {
  const beyond = beyondLimits(proposal, limits, deps.chains);
  const without = (problem: string): Judgement => ({
    reasons: inTheirOrder([...beyond, 'no_blueprint']),
    blueprint: null,
    problem,
  });
  const accounts = deps.transfers?.accounts ?? [];
  const blueprint = blueprintOf(proposal, { chains: deps.chains, accounts });
  if ('problem' in blueprint) return without(blueprint.problem);
  const resolved = resolveBindings(blueprint.nodes, {
    executors: deps.executors.list(),
    signers: deps.signers.list(),
    replaced: await readReplacedSigners(deps.db),
  });
  const problem = unbound(resolved) ?? unfit(proposal, blueprint, resolved, deps);
  if (problem !== null) return without(problem);
  const plan = planOf(proposal, blueprint, resolved, deps);
  const reasons = [
    ...beyond,
    ...(await addressReasons(plan, deps)),
    ...(resolved.unresolved.length > 0 ? (['signer_profile_unresolved'] as const) : []),
    ...(await pathReasons(proposal, blueprint, deps)),
  ];
  return { reasons: inTheirOrder(reasons), blueprint, problem: null };
}

/** Returns the digest that distinguishes versions of a template key: the plan without its limit. */
export function digestOf({ nodes, edges, completion_assurance }: Blueprint): string {
  const text = canonicalize({ nodes, edges, completion_assurance });
  if (text === undefined) throw new Error('the blueprint cannot be written as canonical JSON');
  return sha256Hex(text);
}

function unbound({ unresolved }: ResolvedBindings): string | null {
  const found = unresolved.find(({ binding }) => binding === 'executor');
  return found === undefined
    ? null
    : `node ${found.node_key} finds ${found.reason === 'missing' ? 'no executor' : 'several executors'} here`;
}

/** Returns why the plan is invalid as a registered template or movement; null for a valid one. */
function unfit(
  proposal: Proposal,
  blueprint: Blueprint,
  resolved: ResolvedBindings,
  deps: ApiDependencies,
): string | null {
  const plan = planOf(proposal, blueprint, resolved, deps);
  const shown = new Map(
    deps.executors.list().map((each) => [each.executor_key, each.completion_assurances]),
  );
  const [first] = [
    ...validateGraph(blueprint).map(({ problem }) => problem),
    ...nonExecutableReasons(blueprint),
    ...plan.nodes.flatMap((node) =>
      tokenMismatch(node, deps.chains) === null ? [] : [`token_asset_mismatch:${node.node_key}`],
    ),
    ...unsupportedAssurances(plan.nodes, (key) => shown.get(key) ?? []).map(
      ({ node_key }) => `completion_assurance_unsupported:${node_key}`,
    ),
    ...plan.outflow
      .filter(
        ({ asset, amount }) =>
          asset !== proposal.asset ||
          amount === null ||
          compare(amount, proposal.requested_notional) !== 0,
      )
      .map(({ asset }) => `outflow_is_not_the_notional:${asset}`),
  ];
  return first ?? null;
}

/** Returns the plan as a movement of the requested notional would be compiled. */
function planOf(
  { asset, requested_notional: amount }: Proposal,
  { nodes, edges, completion_assurance }: Blueprint,
  { bindings }: ResolvedBindings,
  { chains }: Pick<ApiDependencies, 'chains'>,
): CompiledPlan {
  const template = {
    template_id: '',
    template_key: '',
    version: 0,
    nodes,
    edges,
    risk_controls: { max_amount: amount },
    completion_policy: { completion_assurance },
  };
  return compilePlan(template, { intent: { asset, amount }, input_params: {} }, bindings, chains);
}

/**
 * Returns the reasons against the plan's payees: each must be on the allowlist and past its cooling
 * period, as the fence requires.
 */
async function addressReasons(
  plan: CompiledPlan,
  deps: ApiDependencies,
): Promise<readonly ProposalReason[]> {
  const paid = (await paidBy(plan, deps)) ?? [];
  const questions = paid.map((destination) => questionOf(destination, readEvmAddress));
  const payees = questions.flatMap((question) => ('payee' in question ? [question.payee] : []));
  const unreadable = payees.length < questions.length;
  const { now, rows } =
    payees.length === 0 ? { now: 0, rows: [] } : await readListed(deps.db, payees);
  const problems = payees.map((address) => problemOf(rows, address, now));
  const cooling = problems.includes('ADDRESS_IN_COOLING_PERIOD');
  const missing = problems.some(
    (problem) => problem !== null && problem !== 'ADDRESS_IN_COOLING_PERIOD',
  );
  return [
    ...(unreadable || missing ? (['address_not_allowlisted'] as const) : []),
    ...(cooling ? (['address_in_cooling_period'] as const) : []),
  ];
}

async function pathReasons(
  { asset }: Proposal,
  { path }: Blueprint,
  { db, settings, chains }: ApiDependencies,
): Promise<readonly ProposalReason[]> {
  if (path === null) return [];
  const facts = await readPathFacts(db, {
    source: { endpoint_identity: path.source },
    destination: { endpoint_identity: path.destination },
    asset,
  });
  const { ready } = pathReadiness(facts, {
    now: facts.now,
    contracts: pathContracts(chains, path, asset),
    maxAgeSeconds: settings.bridgeSnapshotMaxAgeSeconds,
  });
  return ready ? [] : ['bridge_path_not_ready'];
}
