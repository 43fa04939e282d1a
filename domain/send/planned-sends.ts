/**
 * Lists the sends of a plan for its approver, from the plan's own bytes and by the allowlist's
 * rules. The command line and the console show this list next to what the service reports.
 */
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
    }));
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
