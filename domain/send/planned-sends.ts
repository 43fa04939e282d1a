/**
 * Lists the sends of a plan for its approver, from the plan's own bytes and by the allowlist's
 * rules. The command line and the console show this list next to what the service reports.
 */
import { isBuiltIn } from '../actions/built-in.ts';
import { sameAddress } from '../allowlist/address.ts';
import { destinationsOf } from '../allowlist/destinations.ts';
import { sendTerms, type SendTerms } from '../plan/send-terms.ts';
import type { CompiledNode, CompiledPlan } from '../plan/types.ts';

/** A payee of a send, and the chain on which it is paid. */
export interface PlannedPayee {
  readonly chain_family: string;
  readonly address: string;
  /** Null for exchanges, and when the plan names no chain. */
  readonly chain_id: number | null;
}

/** One node that moves funds. */
export interface PlannedSend {
  readonly node_key: string;
  readonly action_type: string;
  readonly asset: string;
  /** Plain decimal, in units of the asset; null when a node output decides the amount. */
  readonly amount: string | null;
  /** The node output that decides the amount; null when the amount is known. */
  readonly amount_ref: string | null;
  /** Empty when the plan names no payee. */
  readonly payees: readonly PlannedPayee[];
  readonly terms: SendTerms;
  /** The contract that pulls what is sent, by an allowance of the signer; null when none does. */
  readonly pulled_by: string | null;
  /** The token that `pulled_by` pulls, when the config does not name it. */
  readonly pulled_token: string | null;
  readonly executor_key: string;
  /** Null when nothing is signed here. */
  readonly signer_key: string | null;
}

/**
 * A payee with the allowlist status that the service reports: `unseen` when the service does not
 * report this payee; null without an answer of a service.
 */
export type Standing<Seen extends PlannedPayee> = PlannedPayee & {
  readonly standing: Seen | 'unseen' | null;
};

/** Returns the sending nodes of a plan, in plan order. */
export function plannedSends(plan: CompiledPlan): readonly PlannedSend[] {
  return plan.nodes
    .filter((node) => node.sends)
    .map((node) => ({
      node_key: node.node_key,
      action_type: node.action_type,
      asset: node.asset,
      ...amountOf(node, plan),
      payees: payeesOf(node, plan),
      terms: sendTerms(node),
      pulled_by: node.pulled_by ?? null,
      pulled_token: node.pulled_token ?? null,
      executor_key: node.executor_binding.executor_key,
      signer_key: node.signer_binding?.signer_key ?? null,
    }));
}

/**
 * Returns the signer that signs a send now, with a mark when a rotation replaced the plan's signer.
 * `nodes`: the nodes of the movement, as the service reports them.
 */
export function signerNow(
  { node_key, signer_key }: Pick<PlannedSend, 'node_key' | 'signer_key'>,
  nodes: readonly {
    readonly node_key: string;
    readonly signer_binding: { readonly signer_key: string } | null;
  }[],
): string | null {
  const bound = nodes.find((each) => each.node_key === node_key)?.signer_binding;
  const now = bound?.signer_key ?? signer_key;
  return now === signer_key
    ? now
    : `${now ?? ''} (IN THE PLACE OF ${signer_key ?? 'NONE'} OF THE PLAN)`;
}

/**
 * Returns all inputs of the teams' own executors, each with its name; empty when no such executor
 * sends. It may read its payee from any input, so an approver must see more than the one field that
 * looks like a payee.
 */
export function executorInputs({
  nodes,
  intent,
  input_params,
}: CompiledPlan): readonly (readonly [name: string, input: object])[] {
  const own = nodes.filter((node) => node.sends && !isBuiltIn(node.action_type));
  if (own.length === 0) return [];
  return [
    ['intent', intent],
    ['parameters', input_params],
    ...own.map(({ node_key, config }) => [node_key, config] as const),
  ];
}

/** Returns what a person checks at each manual gate of a plan: node key and text. */
export function gateTexts({ nodes }: CompiledPlan): readonly (readonly [string, string])[] {
  return nodes.flatMap(({ node_key, node_kind, config }) =>
    node_kind === 'manual_gate' && typeof config['description'] === 'string'
      ? [[node_key, config['description']] as const]
      : [],
  );
}

/**
 * Joins the payees in the plan's bytes with those that the service reports, and keeps all of both,
 * so a service cannot hide a payee by omitting it. `seen` is undefined without a service; `shown`
 * is the payee of the node by the service in that case.
 */
export function withStandings<Seen extends PlannedPayee>(
  own: readonly PlannedPayee[],
  seen: readonly Seen[] | undefined,
  shown: string | null,
): readonly Standing<Seen>[] {
  const is = (one: PlannedPayee) => (other: PlannedPayee) =>
    sameAddress(one.address, other.address) && one.chain_id === other.chain_id;
  if (seen === undefined) {
    const missing = shown !== null && !own.some(({ address }) => sameAddress(address, shown));
    const more = missing ? [{ chain_family: 'evm', address: shown, chain_id: null }] : [];
    return [...own, ...more].map((payee) => ({ ...payee, standing: null }));
  }
  return [
    ...own.map((payee) => ({ ...payee, standing: seen.find(is(payee)) ?? ('unseen' as const) })),
    ...seen.filter((payee) => !own.some(is(payee))).map((payee) => ({ ...payee, standing: payee })),
  ];
}

function payeesOf(
  node: CompiledNode,
  { intent, input_params }: CompiledPlan,
): readonly PlannedPayee[] {
  const all = destinationsOf({ node, executor: undefined, intent, input_params });
  const known = all.filter(({ address }) => address !== '');
  if (known.length > 0 || all.length === 0) return known;
  const named = ['destination_address', 'destination', 'recipient', 'to'].map(
    (field) => node.config[field],
  );
  const address = named.find((each) => typeof each === 'string' && each !== '');
  return typeof address === 'string' ? [{ chain_family: 'evm', address, chain_id: null }] : [];
}

function amountOf(
  { config: { amount, amount_ref: ref } }: CompiledNode,
  { intent }: CompiledPlan,
): Pick<PlannedSend, 'amount' | 'amount_ref'> {
  if (typeof amount === 'string') return { amount, amount_ref: null };
  if (typeof ref === 'string' && ref !== 'intent') return { amount: null, amount_ref: ref };
  return { amount: intent.amount, amount_ref: null };
}
