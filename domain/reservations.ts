/**
 * Whether a movement holds what it should, and uses up what it should of its policy's budget,
 * computed anew for `fundadmin reservations verify`: from plan and node states, with rules of its
 * own (it knows nothing of draw terms, of the database's functions, nor of what was stored beside a
 * node).
 */
import type { JsonObject } from './json.ts';
import type { EdgeType, GraphEdge } from './graph/types.ts';
import { add, compare, isDecimal } from './money.ts';
import { flowsOf } from './plan/flow.ts';
import type { CompiledNode, CompiledPlan } from './plan/types.ts';
import type { ApprovalStatus, MovementState } from './states/movement.ts';
import type { NodeState } from './states/node.ts';
import type { Hold } from './transition.ts';

/** A movement with its nodes and all that is written of its reservations. */
export interface ReservingMovement {
  readonly movement_id: string;
  readonly request_state: MovementState;
  readonly approval_status: ApprovalStatus;
  readonly plan: CompiledPlan;
  readonly nodes: readonly ReservingNode[];
  readonly rows: readonly ReservationRow[];
  /** Whether a policy approved it, of whose budget it uses up a part. */
  readonly by_policy: boolean;
  readonly budget: readonly BudgetRow[];
}

export interface ReservingNode {
  readonly node_key: string;
  readonly state: NodeState;
  readonly recover_first: boolean;
  readonly amount: string | null;
  readonly output: JsonObject | null;
  /** Where a node that is signed pays from, which the plan alone does not tell. */
  readonly signer_pool: Pool | null;
}

/** A hold, or with a node what that node was proven to send. */
export interface ReservationRow extends Hold {
  readonly node_key: string | null;
  readonly status: 'held' | 'consumed';
}

/** What a movement uses up of its policy's budget: not what was released. */
export interface BudgetRow {
  readonly amount: string;
  readonly status: 'reserved' | 'consumed';
}

interface Pool {
  readonly venue_key: string;
  readonly account_type: string;
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
  /** Not of a budget. */
  readonly pool?: string;
  /** Only of what was sent. */
  readonly node_key?: string;
  readonly held: string;
  readonly expected: string;
}

/**
 * Pools that hold something else than may still be drawn, nodes whose sending is noted otherwise
 * than it was, and a budget of which something else is used up.
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

/** Reserved while the movement goes on, consumed once it is over. */
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
 * All that its plan may draw, until it has failed or is cancelled; then what was or may have been
 * drawn, and what a cancel still leads to.
 */
function budgetDue(
  { by_policy, approval_status, request_state, plan, nodes }: ReservingMovement,
  drawing: readonly Drawing[],
): string {
  if (!by_policy || approval_status !== 'approved') return '0';
  const { asset, amount: intended } = plan.intent;
  const own = drawing.filter(({ node }) => node.asset === asset);
  const needs = neededSteps(plan);
  const dearestOf = (
    amountOf: (each: Drawing) => string,
    states: ReadonlyMap<string, NodeState>,
  ): string =>
    dearest(
      own.map((each) => ({ amount: amountOf(each), steps: stepsOf(each.node, needs) })),
      0,
      states,
    );
  const outflow = dearestOf(
    ({ node }) => allowanceDraw(node, plan) ?? plannedAmount(node, plan) ?? '0',
    new Map(),
  );
  const most = compare(outflow, intended) > 0 ? outflow : intended;
  if (request_state !== 'FAILED' && request_state !== 'CANCELLED') return most;
  const gone = own.reduce((sum, { sent, doubtful }) => add(sum, add(sent, doubtful)), '0');
  const states = new Map(nodes.map(({ node_key, state }) => [node_key, state]));
  const coming =
    request_state === 'FAILED'
      ? '0'
      : dearestOf(({ open, doubtful }) => (doubtful === '0' ? open : '0'), states);
  const due = add(gone, coming);
  return compare(due, most) < 0 ? due : most;
}

interface Drawing {
  readonly node: CompiledNode;
  /** Where it draws from; null where balances are not known of. */
  readonly pool: string | null;
  /** What it may still draw. */
  readonly open: string;
  /** What it was proven to send. */
  readonly sent: string;
  /** What it may have sent. */
  readonly doubtful: string;
}

function drawingNodes({ plan, nodes, request_state }: ReservingMovement): readonly Drawing[] {
  const rows = new Map(nodes.map((node) => [node.node_key, node]));
  const over = request_state === 'COMPLETED' || request_state === 'FAILED';
  return plan.nodes.flatMap((node): readonly Drawing[] => {
    const row = rows.get(node.node_key);
    if (row === undefined || !node.sends || spendsOf(node, plan) !== null) return [];
    const amount = allowanceDraw(node, plan) ?? row.amount ?? plannedAmount(node, plan) ?? '0';
    const ended = ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(row.state);
    const begun =
      ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'].includes(row.state) ||
      (row.state === 'READY' && row.recover_first);
    const told = row.output?.['submitted_amount'];
    const part =
      typeof told === 'string' &&
      isDecimal(told) &&
      (row.amount === null || compare(told, row.amount) < 0)
        ? told
        : amount;
    const sent = row.state === 'COMPLETED' ? part : '0';
    return [
      {
        node,
        pool: poolOf(node, row),
        open: ended || (over && !begun) ? '0' : amount,
        sent,
        doubtful: begun ? amount : '0',
      },
    ];
  });
}

/**
 * The earlier sending node, of the same asset, whose funds a node spends; null for one that draws.
 */
function spendsOf(node: CompiledNode, plan: CompiledPlan): CompiledNode | null {
  const { amount_ref: ref, burn_from: burn } = node.config;
  const named =
    node.action_type === 'cctp_mint' && typeof burn === 'string'
      ? burn
      : /^nodes\.(.+)\.output\.\w+$/.exec(String(ref))?.[1];
  if (named === undefined || !leadsTo(plan.edges, named, node.node_key)) return null;
  const find = (key: unknown): CompiledNode | undefined =>
    plan.nodes.find(({ node_key }) => node_key === key);
  const other = find(named);
  const source = other?.sends === false ? find(other.config['match_from']) : other;
  return source !== undefined && source.sends && source !== node && source.asset === node.asset
    ? source
    : null;
}

function leadsTo(edges: readonly GraphEdge[], from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const key of reached) for (const edge of edges) if (edge.from === key) reached.add(edge.to);
  return from !== to && reached.has(to);
}

/** An allowance draws what it allows beyond what is pulled by it; null for any other node. */
function allowanceDraw(node: CompiledNode, plan: CompiledPlan): string | null {
  return node.action_type === 'evm_erc20_approve'
    ? (flowsOf(plan).get(node.node_key)?.amount ?? null)
    : null;
}

/** The amount that the plan gives, else the tightest limit where it is in the node's asset. */
function plannedAmount(
  { config, asset, risk_patch }: CompiledNode,
  { intent, risk_controls }: CompiledPlan,
): string | null {
  const { amount, amount_ref: ref } = config;
  if (typeof amount === 'string' && isDecimal(amount)) return amount;
  if (amount === undefined && (ref === undefined || ref === 'intent')) return intent.amount;
  if (asset !== intent.asset) return null;
  const limits = [risk_controls['max_amount'], risk_patch?.['max_amount']].filter(
    (limit) => limit !== undefined,
  );
  return limits.length === 0
    ? null
    : limits
        .map((limit) => (typeof limit === 'string' && isDecimal(limit) ? limit : '0'))
        .reduce((a, b) => (compare(a, b) < 0 ? a : b));
}

function poolOf(
  { action_type, config, asset }: CompiledNode,
  { signer_pool: signed }: ReservingNode,
): string | null {
  if (signed !== null) return poolName({ ...signed, asset });
  const { venue, account_type: type } = config;
  if (typeof venue !== 'string' || venue === '') return null;
  const account_type =
    action_type === 'cex_withdrawal' || typeof type !== 'string' || type === ''
      ? 'SPOT'
      : type.toUpperCase();
  return poolName({ venue_key: venue, account_type, asset });
}

/** What of each pool may still be drawn. */
function holdsDue(
  movement: ReservingMovement,
  drawing: readonly Drawing[],
): ReadonlyMap<string, string> {
  if (movement.approval_status !== 'approved' || drawing.every(({ open }) => open === '0'))
    return new Map();
  const states = new Map(movement.nodes.map(({ node_key, state }) => [node_key, state]));
  const needs = neededSteps(movement.plan);
  const pools = new Set(drawing.flatMap(({ pool }) => (pool === null ? [] : [pool])));
  return new Map(
    [...pools].map((pool) => {
      const draws = drawing.map(({ node, pool: from, open }) => ({
        amount: from === pool ? open : '0',
        steps: stepsOf(node, needs),
      }));
      return [pool, dearest(draws, 0, states)] as const;
    }),
  );
}

/**
 * A way that is taken out of a node: one of its outcomes, or one priority of its edges of a type.
 */
interface Step {
  readonly id: string;
  readonly node_key: string;
  /** Steps of one fork exclude each other. */
  readonly fork: string;
  readonly way: string;
}

const step = (node_key: string, kind: string, way: string): Step => ({
  id: JSON.stringify([node_key, kind, way]),
  node_key,
  fork: JSON.stringify([node_key, kind]),
  way,
});

const OUTCOME: Readonly<Record<EdgeType, string | null>> = {
  on_success: 'success',
  on_manual_resume: 'success',
  on_failure: 'failure',
  on_timeout: 'timeout',
  on_cancel: null,
};

/** The steps that every path to a node takes, the earliest first. */
function neededSteps({ nodes, edges }: CompiledPlan): ReadonlyMap<string, readonly Step[]> {
  const known = new Map<string, readonly Step[]>();
  const stepsTo = (key: string): readonly Step[] => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const paths = edges
      .filter(({ to }) => to === key)
      .map((edge) => {
        const outcome = OUTCOME[edge.edge_type];
        const own =
          outcome === null
            ? []
            : [
                step(edge.from, 'outcome', outcome),
                step(edge.from, edge.edge_type, String(edge.priority)),
              ];
        return [...stepsTo(edge.from), ...own];
      });
    const [first = [], ...others] = paths;
    const shared = first.filter(({ id }) =>
      others.every((path) => path.some((each) => each.id === id)),
    );
    known.set(key, shared);
    return shared;
  };
  for (const { node_key } of nodes) stepsTo(node_key);
  return known;
}

/** What has to happen for a node to draw: the steps that lead to it, and its own success. */
function stepsOf(
  { node_key }: CompiledNode,
  needs: ReadonlyMap<string, readonly Step[]>,
): readonly Step[] {
  return [...(needs.get(node_key) ?? []), step(node_key, 'outcome', 'success')];
}

interface Draw {
  readonly amount: string;
  readonly steps: readonly Step[];
}

/**
 * What draws with the same first `depth` steps come to: of the ways of a fork the dearest,
 * everything else is added.
 */
function dearest(
  draws: readonly Draw[],
  depth: number,
  states: ReadonlyMap<string, NodeState>,
): string {
  let total = '0';
  const forks = new Map<string, Map<string, Draw[]>>();
  for (const draw of draws) {
    const next = draw.steps[depth];
    if (next === undefined) {
      total = add(total, draw.amount);
      continue;
    }
    const ways = forks.get(next.fork) ?? new Map<string, Draw[]>();
    ways.set(next.way, [...(ways.get(next.way) ?? []), draw]);
    forks.set(next.fork, ways);
  }
  for (const ways of forks.values()) {
    const excluding = ways.has('failure') || ways.has('timeout');
    const amounts = [...ways].map(([way, inside]) => {
      const state = states.get(inside[0]?.steps[depth]?.node_key ?? '');
      const closed =
        excluding &&
        (state === 'COMPLETED' ? way !== 'success' : state === 'FAILED' && way === 'success');
      return closed ? '0' : dearest(inside, depth + 1, states);
    });
    total = add(
      total,
      amounts.reduce((a, b) => (compare(a, b) > 0 ? a : b), '0'),
    );
  }
  return total;
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
