/**
 * What movements hold and use up of a budget, read at one moment together with the states that
 * decide it.
 */
import { compare, total } from './amounts.ts';
import { budgetOf, holdsOf, type PlanModel, type SeenNode } from './movement-model.ts';

/** One movement as the database has it at one moment. */
export interface Holding {
  readonly movement_id: string;
  readonly idempotency_key: string | null;
  readonly state: string;
  readonly approved: boolean;
  /** A policy approved it, so it uses up of a budget. */
  readonly by_policy: boolean;
  readonly nodes: readonly SeenNode[];
  readonly holds: readonly { readonly pool: string; readonly amount: string }[];
  readonly budget: readonly { readonly amount: string; readonly status: string }[];
  /** Null where it is of no interest. */
  readonly plan: PlanModel | null;
}

/** One statement, so that all of it is of one moment, whatever runs meanwhile. */
const QUERY = `SELECT m.movement_id::text, m.idempotency_key, m.request_state AS state,
  m.approval_status = 'approved' AS approved,
    m.auto_approve_result ->> 'outcome' IS NOT DISTINCT FROM 'approved' AS by_policy,
    (SELECT json_agg(json_build_object('node_key', n.node_key, 'state', n.state,
      'amount', trim_scale(n.amount)::text,
       'output', n.output, 'recover_first', n.recover_first)) FROM movement_nodes n
         WHERE n.movement_id = m.movement_id) AS nodes,
    (SELECT coalesce(json_agg(
      json_build_object('pool', concat_ws(' ', r.venue_key, r.account_type, r.asset),
      'amount', trim_scale(r.amount)::text)), '[]')
     FROM reservations r WHERE r.movement_id = m.movement_id AND r.status = 'held') AS holds,
    (SELECT coalesce(json_agg(
      json_build_object('amount', trim_scale(b.amount)::text, 'status', b.status)), '[]')
     FROM budget_reservations b WHERE b.movement_id = m.movement_id
       AND b.status <> 'released') AS budget
  FROM movements m`;

/** All movements now; `plans` by their idempotency keys. */
export async function readHoldings(
  query: <R extends object>(sql: string) => Promise<R[]>,
  plans: ReadonlyMap<string, PlanModel>,
): Promise<readonly Holding[]> {
  const rows = await query<Omit<Holding, 'plan'>>(QUERY);
  return rows.map((row) => ({ ...row, plan: plans.get(row.idempotency_key ?? '') ?? null }));
}

/** Where a movement holds or uses up something else than its nodes' states say. */
export function untrueHoldings(holdings: readonly Holding[]): readonly string[] {
  return holdings.flatMap((each) =>
    each.plan === null ? [] : [...untrueHolds(each, each.plan), ...untrueBudget(each, each.plan)],
  );
}

const shown = (amounts: ReadonlyMap<string, string>): string =>
  [...amounts].map(([pool, amount]) => `${amount} of ${pool}`).join(', ') || 'nothing';
const where = ({ movement_id, state, nodes }: Holding): string =>
  `${movement_id} (${state}; ${nodes.map((node) => `${node.node_key} ${node.state}`).join(', ')})`;

function untrueHolds(each: Holding, plan: PlanModel): readonly string[] {
  const due = each.approved
    ? [...holdsOf({ ...each, plan })].filter(([, amount]) => compare(amount, '0') !== 0)
    : [];
  const [expected, held] = [
    new Map(due.sort()),
    new Map(each.holds.map(({ pool, amount }) => [pool, amount] as const).sort()),
  ];
  return shown(expected) === shown(held) && each.holds.length === held.size
    ? []
    : [`${where(each)} holds ${shown(held)}, it should be ${shown(expected)}`];
}

function untrueBudget(each: Holding, plan: PlanModel): readonly string[] {
  const due = each.approved && each.by_policy ? budgetOf({ ...each, plan }) : '0';
  const status = ['COMPLETED', 'FAILED', 'CANCELLED'].includes(each.state)
    ? 'consumed'
    : 'reserved';
  const used = total(each.budget.map(({ amount }) => amount));
  const others = each.budget
    .filter((part) => part.status !== status)
    .map((part) => `${part.amount} ${part.status}`);
  return [
    ...(compare(used, due) === 0
      ? []
      : [`${where(each)} uses up ${used} of its budget, it should be ${due}`]),
    ...others.map((other) => `${where(each)} has ${other} of its budget`),
  ];
}

/**
 * Looks again and again while `work` runs; answers each contradiction once. What cannot be read now
 * is read the next time.
 */
export async function watchHoldings(
  look: () => Promise<readonly Holding[]>,
  until: Promise<unknown>,
  everyMs: number,
): Promise<Watched> {
  const found = new Set<string>();
  let looks = 0;
  let over = false;
  void until.catch(() => undefined).finally(() => (over = true));
  for (;;) {
    const last = over;
    const holdings = await look().catch(() => null);
    if (holdings !== null) {
      looks += 1;
      for (const each of untrueHoldings(holdings)) found.add(each);
    }
    if (last) return { looks, found: [...found] };
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

export interface Watched {
  readonly looks: number;
  readonly found: readonly string[];
}
