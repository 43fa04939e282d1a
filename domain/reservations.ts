/**
 * Checks whether a movement's holds and its part of its policy's budget are right, for `fundadmin
 * reservations verify`. It recomputes them from the approved plan, with the sums that decide
 * (domain/plan/flow.ts), and from node states. It reads no amounts that were stored beside a node.
 * The models in test/ check the sums themselves.
 */
import { specOf } from './actions/built-in.ts';
import { ABANDONED } from './attention-reasons.ts';
import type { JsonObject } from './json.ts';
import { add, compare, isDecimal } from './money.ts';
import { drawTerms, flowsOf, limitAmount, sumOf } from './plan/flow.ts';
import { poolOf, type Pool } from './plan/pools.ts';
import { NO_CHAINS } from './plan/tokens.ts';
import type { CompiledNode, CompiledPlan } from './plan/types.ts';
import type { ApprovalStatus, MovementState } from './states/movement.ts';
import type { NodeState } from './states/node.ts';
import type { Hold } from './transition.ts';

/** A movement with its nodes and all its stored reservations. */
export interface ReservingMovement {
  readonly movement_id: string;
  readonly request_state: MovementState;
  readonly approval_status: ApprovalStatus;
  readonly plan: CompiledPlan;
  readonly nodes: readonly ReservingNode[];
  readonly rows: readonly ReservationRow[];
  /** Whether a policy approved the movement, which then uses that policy's budget. */
  readonly by_policy: boolean;
  readonly budget: readonly BudgetRow[];
}

export interface ReservingNode {
  readonly node_key: string;
  readonly state: NodeState;
  readonly error_code: string | null;
  readonly recover_first: boolean;
  readonly amount: string | null;
  readonly output: JsonObject | null;
  /** The pool that a signed node pays from; the plan alone does not contain it. */
  readonly signer_pool: Pool | null;
}

/** A hold; with a node key, what of that node counts as sent. */
export interface ReservationRow extends Hold {
  readonly node_key: string | null;
  readonly status: 'held' | 'consumed';
}

/** A movement's use of its policy's budget, without what was released. */
export interface BudgetRow {
  readonly amount: string;
  readonly status: 'reserved' | 'consumed';
}

export interface HoldFault {
  readonly fault:
    | 'hold_missing'
    | 'hold_unexpected'
    | 'hold_differs'
    | 'hold_of_ended_movement'
    | 'sent_missing'
    | 'sent_unexpected'
    | 'sent_differs'
    | 'budget_reserved_differs'
    | 'budget_consumed_differs';
  /** Absent for a budget. */
  readonly pool?: string;
  /** Only for what a node sent. */
  readonly node_key?: string;
  readonly held: string;
  readonly expected: string;
}

/**
 * Returns the pools whose holds differ from what may still be drawn, the nodes whose recorded sends
 * differ, and the budget if its use differs.
 */
export function reservationFaults(movement: ReservingMovement): readonly HoldFault[] {
  const drawing = drawingNodes(movement);
  const held = new Map(
    movement.rows
      .filter(({ status }) => status === 'held')
      .map((row) => [poolName(row), row.amount]),
  );
  const due = holdsDue(movement, drawing);
  const over = movement.request_state === 'COMPLETED' || movement.request_state === 'FAILED';
  const holds = differences(held, due).map(({ key, found, expected }): HoldFault => ({
    fault: over
      ? 'hold_of_ended_movement'
      : found === '0'
        ? 'hold_missing'
        : expected === '0'
          ? 'hold_unexpected'
          : 'hold_differs',
    pool: key,
    held: found,
    expected,
  }));
  const noted = new Map<string, string>();
  for (const row of movement.rows.filter(({ status }) => status === 'consumed')) {
    const key = sentKey(row.node_key ?? '', poolName(row));
    noted.set(key, add(noted.get(key) ?? '0', row.amount));
  }
  const sent = new Map(
    drawing.flatMap(({ node, pool, sent: amount }) =>
      pool === null ? [] : [[sentKey(node.node_key, pool), amount] as const],
    ),
  );
  const notes = differences(noted, sent).map(({ key, found, expected }): HoldFault => {
    const [node_key = '', pool = ''] = JSON.parse(key) as string[];
    return {
      fault: found === '0' ? 'sent_missing' : expected === '0' ? 'sent_unexpected' : 'sent_differs',
      pool,
      node_key,
      held: found,
      expected,
    };
  });
  return [...holds, ...notes, ...budgetFaults(movement, drawing)];
}

/** Compares the budget's use: reserved while the movement is open, consumed once it has ended. */
function budgetFaults(
  movement: ReservingMovement,
  drawing: readonly Drawing[],
): readonly HoldFault[] {
  const due = budgetDue(movement, drawing);
  const over = ['COMPLETED', 'FAILED', 'CANCELLED'].includes(movement.request_state);
  return (['reserved', 'consumed'] as const).flatMap((status): readonly HoldFault[] => {
    const held = movement.budget
      .filter((row) => row.status === status)
      .reduce((sum, { amount }) => add(sum, amount), '0');
    const expected = (status === 'consumed') === over ? due : '0';
    return compare(held, expected) === 0
      ? []
      : [{ fault: `budget_${status}_differs`, held, expected }];
  });
}

/**
 * Returns the budget that the movement must use: all that its plan may draw until the movement is
 * FAILED or CANCELLED; then what was or may have been drawn, and what nodes after a cancel may
 * still draw.
 */
function budgetDue(
  { by_policy, approval_status, request_state, plan, nodes }: ReservingMovement,
  drawing: readonly Drawing[],
): string {
  if (!by_policy || approval_status !== 'approved') return '0';
  const own = drawing.filter(({ node }) => node.asset === plan.intent.asset);
  const most = limitAmount(plan) ?? plan.intent.amount;
  if (request_state !== 'FAILED' && request_state !== 'CANCELLED') return most;
  const gone = own.reduce((sum, { sent, doubtful }) => add(sum, add(sent, doubtful)), '0');
  const coming =
    request_state === 'FAILED'
      ? '0'
      : drawnBy(own, plan, nodes, ({ open, doubtful }) => (doubtful === '0' ? open : '0'));
  const due = add(gone, coming);
  return compare(due, most) < 0 ? due : most;
}

/** Returns what the nodes draw together by the plan's own terms, in their present states. */
function drawnBy(
  drawing: readonly Drawing[],
  plan: CompiledPlan,
  nodes: readonly ReservingNode[],
  amountOf: (each: Drawing) => string,
): string {
  const amounts = new Map(drawing.map((each) => [each.node.node_key, amountOf(each)]));
  const states = new Map(nodes.map(({ node_key, state }) => [node_key, state]));
  return (
    sumOf(
      drawTerms(plan),
      (key) => amounts.get(key) ?? '0',
      (key) => states.get(key),
    ) ?? '0'
  );
}

interface Drawing {
  readonly node: CompiledNode;
  /** The pool that the node draws from; null when its balances are not known. */
  readonly pool: string | null;
  /** The amount that the node may still draw. */
  readonly open: string;
  /** The amount that the node is proven to have sent, or that counts as sent: it was abandoned. */
  readonly sent: string;
  /** The amount that the node may have sent. */
  readonly doubtful: string;
}

function drawingNodes({ plan, nodes, request_state }: ReservingMovement): readonly Drawing[] {
  const rows = new Map(nodes.map((node) => [node.node_key, node]));
  const over = request_state === 'COMPLETED' || request_state === 'FAILED';
  const flows = flowsOf(plan);
  return plan.nodes.flatMap((node): readonly Drawing[] => {
    const row = rows.get(node.node_key);
    const flow = flows.get(node.node_key);
    if (row === undefined || flow === undefined || flow.from !== null) return [];
    const { allowance, sent: tells } = specOf(node.action_type);
    // An allowance draws what its plan states, not the amount that it allows.
    const amount = (allowance ? (flow.amount ?? row.amount) : (row.amount ?? flow.amount)) ?? '0';
    const ended = ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(row.state);
    const maySpend =
      ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'].includes(row.state) ||
      (row.state === 'READY' && row.recover_first);
    const reported = row.output?.[tells];
    const part =
      typeof reported === 'string' && isDecimal(reported) && compare(reported, amount) < 0
        ? reported
        : amount;
    const isAbandoned = row.state === 'FAILED' && row.error_code === ABANDONED;
    const sent = row.state === 'COMPLETED' ? part : isAbandoned ? amount : '0';
    return [
      {
        node,
        pool: drawnFrom(node, row),
        open: ended || (over && !maySpend) ? '0' : amount,
        sent,
        doubtful: maySpend ? amount : '0',
      },
    ];
  });
}

/** Returns the pool that the node draws from. Only the stored node has the pool of its signer. */
function drawnFrom(node: CompiledNode, { signer_pool }: ReservingNode): string | null {
  const pool = signer_pool ?? poolOf(node, NO_CHAINS);
  return pool === null ? null : poolName({ ...pool, asset: node.asset });
}

/** Returns the amount that may still be drawn from each pool. */
function holdsDue(
  { approval_status, plan, nodes }: ReservingMovement,
  drawing: readonly Drawing[],
): ReadonlyMap<string, string> {
  if (approval_status !== 'approved' || drawing.every(({ open }) => open === '0')) return new Map();
  const pools = new Set(drawing.flatMap(({ pool }) => (pool === null ? [] : [pool])));
  return new Map(
    [...pools].map((pool) => [
      pool,
      drawnBy(drawing, plan, nodes, (each) => (each.pool === pool ? each.open : '0')),
    ]),
  );
}

function differences(
  found: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
): readonly { readonly key: string; readonly found: string; readonly expected: string }[] {
  return [...new Set([...found.keys(), ...expected.keys()])].sort().flatMap((key) => {
    const [is, should] = [found.get(key) ?? '0', expected.get(key) ?? '0'];
    return compare(is, should) === 0 ? [] : [{ key, found: is, expected: should }];
  });
}

const sentKey = (nodeKey: string, pool: string): string => JSON.stringify([nodeKey, pool]);
const poolName = ({ venue_key, account_type, asset }: Omit<Hold, 'amount'>): string =>
  `${venue_key}/${account_type}/${asset}`;
