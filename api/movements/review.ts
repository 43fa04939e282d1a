/**
 * The current data that a plan's approver needs; a preview shows the same data. What follows from
 * the plan alone is kept with it: a waiting movement is read many times.
 */
import { effectiveWithdrawable } from '../../domain/balances.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import { compare } from '../../domain/money.ts';
import { resolveAmount } from '../../domain/plan/amount.ts';
import { drawTerms, flowsOf, sumOf } from '../../domain/plan/flow.ts';
import { kept } from '../../domain/plan/kept.ts';
import { amountLimits, type LimitCheck } from '../../domain/plan/limits.ts';
import { poolOf } from '../../domain/plan/pools.ts';
import { sendTerms } from '../../domain/plan/send-terms.ts';
import type { ChainAssets } from '../../domain/plan/tokens.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import { readBalances, type PoolRow } from '../../store/balances.ts';
import type { RegisteredStatuses } from '../../store/registry.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { checkAddresses, type AddressCheck } from './addresses.ts';
import type { ReviewView } from './review-schema.ts';

type Failing = ReviewView['would_fail'][number];
type Draw = ReviewView['balances'][number];
type PlannedSend = Omit<ReviewView['sends'][number], 'payees'>;

/** What decides, besides the plan, whether it could run now. */
interface Found {
  readonly addresses: readonly AddressCheck[];
  readonly statuses: RegisteredStatuses;
  readonly draws: readonly Draw[];
}

/**
 * Returns the review of a plan whose bindings have these statuses. Reads the rest that decides
 * whether the plan could run now; these reads start together.
 */
export async function readReview(
  plan: CompiledPlan,
  statuses: RegisteredStatuses,
  deps: ApiDependencies,
): Promise<ReviewView> {
  const [addresses, draws] = await Promise.all([checkAddresses(plan, deps), readDraws(plan, deps)]);
  return reviewOf(plan, { addresses: addresses ?? [], statuses, draws }, deps);
}

/** Reads the balance of every pool that the plan draws from. */
export async function readDraws(
  plan: CompiledPlan,
  { db, settings, chains }: ApiDependencies,
): Promise<readonly Draw[]> {
  const draws = drawnFrom(plan, chains);
  const read = await Promise.all(
    [...new Set(draws.map(({ venue_key }) => venue_key))].map((venue_key) =>
      readBalances(db, { venue_key }, settings.balanceStaleSeconds),
    ),
  );
  const pools = read.flat();
  return draws.map((draw) => standingOf(draw, pools));
}

/** Returns the review of a plan from what was read for it. */
export function reviewOf(
  plan: CompiledPlan,
  { addresses, statuses, draws }: Found,
  { balances }: Pick<ApiDependencies, 'balances'>,
): ReviewView {
  const fetched = new Set(balances.venues.map(({ venue_key }) => venue_key));
  const limits = limitsOf(plan);
  return {
    sends: sendsOf(plan, addresses),
    limits,
    balances: draws,
    would_fail: [
      ...limitFailures(limits),
      ...addresses.flatMap(addressFailure),
      ...bindingFailures(plan, statuses),
      ...draws.filter(({ venue_key }) => fetched.has(venue_key)).flatMap(balanceFailure),
    ],
  };
}

/** Returns every `max_amount` of the plan compared with its known amounts. */
export const limitsOf = kept((plan: CompiledPlan): ReviewView['limits'] =>
  amountLimits(plan).map((each) => ({ ...each, used: null })),
);

/** Returns the nodes that move funds, each with its payees. */
export function sendsOf(
  plan: CompiledPlan,
  addresses: readonly AddressCheck[],
): ReviewView['sends'] {
  return plannedSends(plan).map((send) => ({
    ...send,
    payees: addresses
      .filter(({ node_key }) => node_key === send.node_key)
      .map(({ node_key: _node, hopeless: _hopeless, strict: _strict, ...payee }) => payee),
  }));
}

const plannedSends = kept((plan: CompiledPlan): readonly PlannedSend[] =>
  plan.nodes
    .filter((node) => node.sends)
    .map((node) => ({
      node_key: node.node_key,
      action_type: node.action_type,
      asset: node.asset,
      amount: resolveAmount(node.config, plan.intent.amount, () => null),
      ...sendTerms(node),
    })),
);

/** Returns the limits that are already exceeded, worded as the later failure. */
export function limitFailures(limits: readonly LimitCheck[]): readonly Failing[] {
  return limits
    .filter(({ ok }) => ok === false)
    .map(({ control, limit, after }) => ({
      at: 'dispatch',
      node_key: /^nodes\.(.*)\.max_amount$/.exec(control)?.[1] ?? null,
      error: 'MAX_AMOUNT_EXCEEDED',
      message:
        `${after ?? ''} is above the limit ${control} of ${limit}: the node fails before it sends. ` +
        'Lower the amount, or use a template version with a higher limit.',
    }));
}

function addressFailure({
  node_key,
  address,
  chain_id,
  code,
  problem,
  usable_after,
}: AddressCheck): readonly Failing[] {
  if (code === null) return [];
  const chain = chain_id === null ? '' : ` on chain ${String(chain_id)}`;
  const why = {
    ADDRESS_NOT_ALLOWLISTED: `${address}${chain} is not on the allowlist.`,
    ADDRESS_CHAIN_ID_REQUIRED: `${address} is on the allowlist, but with no row for this chain${chain === '' ? '' : ` (${String(chain_id)})`}.`,
    ADDRESS_IN_COOLING_PERIOD: `${address}${chain} may be paid from ${usable_after ?? 'later'} on.`,
  }[code];
  const message = problem ?? why;
  return [{ at: 'dispatch', node_key, error: code, message }];
}

function bindingFailures(plan: CompiledPlan, statuses: RegisteredStatuses): readonly Failing[] {
  const first = rootsOf(plan);
  return plan.nodes.flatMap(({ node_key, executor_binding, signer_binding }) =>
    [
      ['executor', executor_binding.executor_key, statuses.executors] as const,
      ['signer', signer_binding?.signer_key ?? null, statuses.signers] as const,
    ].flatMap(([what, key, of]) =>
      switchedOff(what, key, of).map((): Failing => {
        const message = `The ${what} ${String(key)} of ${node_key} is ${of.get(key ?? '') ?? ''}.`;
        return first.has(node_key)
          ? { at: 'approve', node_key, error: 'binding_unavailable', message }
          : { at: 'dispatch', node_key, error: `${what.toUpperCase()}_DISABLED`, message };
      }),
    ),
  );
}

const rootsOf = kept((plan: CompiledPlan): ReadonlySet<string> => new Set(rootNodes(plan)));

/** Returns `executor_disabled` or a similar code; empty when the binding is active. */
export function switchedOff(
  what: 'executor' | 'signer',
  key: string | null,
  statuses: ReadonlyMap<string, string>,
): readonly string[] {
  const status = key === null ? 'active' : (statuses.get(key) ?? 'active');
  return status === 'active' ? [] : [`${what}_${status}`];
}

function balanceFailure({
  venue_key,
  account_type,
  asset,
  draws,
  effective_withdrawable: free,
  stale,
}: Draw): readonly Failing[] {
  // An approval fetches the venue's balance before it relies on a snapshot that is too old.
  if (stale !== false || draws === null || free === null || compare(draws, free) <= 0) return [];
  const message = `Free balance of ${venue_key} (${account_type}) is too small: ${free} ${asset} of ${draws}. Deposit, or lower the amount.`;
  return [{ at: 'approve', node_key: null, error: 'insufficient_effective_withdrawable', message }];
}

type Drawn = Pick<Draw, 'venue_key' | 'account_type' | 'asset' | 'draws'>;

/** Returns the maximum that the plan draws from each pool of funds. */
const drawnFrom = kept((plan: CompiledPlan, chains: ChainAssets): readonly Drawn[] => {
  const terms = drawTerms(plan);
  const flows = flowsOf(plan);
  const pools = new Map<string, Omit<Drawn, 'draws'>>();
  const poolOfNode = new Map<string, string>();
  for (const node of plan.nodes) {
    const flow = flows.get(node.node_key);
    const pool = flow?.from === null ? poolOf(node, chains) : null;
    if (flow === undefined || pool === null) continue;
    const key = JSON.stringify([pool.venue_key, pool.account_type, flow.asset]);
    pools.set(key, { ...pool, asset: flow.asset });
    poolOfNode.set(node.node_key, key);
  }
  return [...pools].map(([key, pool]) => ({
    ...pool,
    draws: sumOf(terms, (node) =>
      poolOfNode.get(node) === key ? (flows.get(node)?.amount ?? null) : '0',
    ),
  }));
});

/**
 * Returns a draw with its pool's balance. If the venue reported other pools and not this one, the
 * pool is empty; `check_covered` decides the same.
 */
function standingOf(draw: Drawn, pools: readonly PoolRow[]): Draw {
  const own = pools.filter(({ venue_key }) => venue_key === draw.venue_key);
  const pool = own.find(
    ({ account_type, asset }) => account_type === draw.account_type && asset === draw.asset,
  );
  const seen = pool ?? own[0];
  if (seen === undefined)
    return {
      ...draw,
      withdrawable: null,
      effective_withdrawable: null,
      fetched_at: null,
      stale: null,
    };
  const { withdrawable, pending_outflow } = pool ?? { withdrawable: '0', pending_outflow: '0' };
  return {
    ...draw,
    withdrawable,
    effective_withdrawable: effectiveWithdrawable(withdrawable, pending_outflow),
    fetched_at: seen.fetched_at,
    stale: seen.stale,
  };
}
