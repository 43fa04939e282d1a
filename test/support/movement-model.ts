/**
 * What the contract says of a movement (decisions 2, 5 and 6), from what its caller and its
 * template's author wrote and from the states of its nodes: what it may move at most, what it holds
 * in which pool, what it uses up of a budget, and whether what landed stays within what was
 * approved. It imports no rule of the product.
 */
import { add, compare, least, most, subtract, total } from './amounts.ts';
import { dearestDraw, sourcesOf, type ModelEdge, type ModelNode } from './flow-model.ts';

type Json = Readonly<Record<string, unknown>>;

/** A node; its executor receives `config`. */
export interface PlanNode extends ModelNode {
  readonly action_type: string;
  readonly risk_patch?: Json | undefined;
  /** The pool where its name does not follow from config: on chains, a signer's. */
  readonly pool?: string | undefined;
}

export interface PlanModel {
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly ModelEdge[];
  readonly intent: { readonly asset: string; readonly amount: string };
  readonly risk_controls: Json;
}

/** A movement as it is now. */
export interface Seen {
  readonly movement_id: string;
  readonly state: string;
  readonly plan: PlanModel;
  readonly nodes: readonly SeenNode[];
}

export interface SeenNode {
  readonly node_key: string;
  readonly state: string;
  /** Null until it is known. */
  readonly amount: string | null;
  readonly output: Json | null;
  /** Its outcome must be read before it may be sent again. */
  readonly recover_first: boolean;
}

/** A template as its author writes it. */
export interface TemplateText {
  readonly nodes: readonly {
    readonly node_key: string;
    readonly node_kind: string;
    readonly action_type: string;
    readonly config?: Json | undefined;
    readonly risk_patch?: Json | undefined;
  }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly edge_type: string;
    readonly priority?: number;
  }[];
  readonly risk_controls?: Json | undefined;
}

/** What of a create decides. */
export interface RequestText {
  readonly intent: { readonly asset: string; readonly amount: string };
  readonly input_params?: { readonly node_config?: Json | undefined } | undefined;
}

/** Built-in types that send nothing; every type of a team's executor here sends. */
const IDLE = ['noop', 'manual_gate', 'cex_deposit_observe', 'evm_balance_observe'];

/**
 * The plan as written: a caller's `node_config` fills what the template leaves open, and never says
 * how much a node sends that the template lets spend an output. `chainPool` names the pool of
 * on-chain nodes.
 */
export function planOf(
  template: TemplateText,
  { intent, input_params }: RequestText,
  chainPool: string,
): PlanModel {
  const inputConfig = input_params?.node_config ?? {};
  const asset = intent.asset.toUpperCase();
  const nodes = template.nodes.map(
    ({ node_key, node_kind, action_type, config: own = {}, risk_patch }): PlanNode => {
      const { amount: offered, ...others } = inputConfig;
      const keeps =
        offered === undefined || own['amount'] !== undefined || own['amount_ref'] !== undefined;
      const config: Json = { ...others, ...(keeps ? {} : { amount: offered }), ...own };
      return {
        node_key,
        action_type,
        risk_patch,
        config,
        sends: node_kind !== 'observe' && !IDLE.includes(action_type),
        asset: typeof config['asset'] === 'string' ? config['asset'].toUpperCase() : asset,
        ...(action_type.startsWith('evm_') ? { pool: chainPool } : {}),
      };
    },
  );
  const edges = template.edges.map(({ priority = 0, ...edge }) => ({ ...edge, priority }));
  return {
    nodes,
    edges,
    intent: { asset, amount: intent.amount },
    risk_controls: template.risk_controls ?? {},
  };
}

export type PoolKey = {
  readonly venue_key: string;
  readonly account_type: string;
  readonly asset: string;
};
export const poolName = ({ venue_key, account_type, asset }: PoolKey): string =>
  `${venue_key} ${account_type} ${asset}`;

/** The pool that a node draws from; null where there is none. */
export function poolOf({ action_type, config, asset, pool }: PlanNode): string | null {
  if (pool !== undefined) return poolName({ venue_key: pool, account_type: 'SPOT', asset });
  const { venue, account_type = 'SPOT' } = config;
  if (typeof venue !== 'string') return null;
  return poolName({
    venue_key: venue,
    account_type: action_type === 'cex_withdrawal' ? 'SPOT' : String(account_type).toUpperCase(),
    asset,
  });
}

/**
 * What a node sends at most, before an output is known; null: an output decides it and nothing
 * bounds it.
 */
export function planned(
  { asset, config, risk_patch }: PlanNode,
  { intent, risk_controls }: PlanModel,
): string | null {
  if (typeof config['amount'] === 'string') return config['amount'];
  if (config['amount_ref'] === undefined || config['amount_ref'] === 'intent') return intent.amount;
  // A limit is in units of the intent's asset.
  if (asset !== intent.asset) return null;
  const limits = [risk_patch?.['max_amount'], risk_controls['max_amount']].filter(
    (each) => typeof each === 'string',
  );
  return limits.length === 0 ? null : limits.reduce(least);
}

/** A node past its fence without a proven outcome. */
export const isUnderWay = ({ state, recover_first }: SeenNode): boolean =>
  ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'].includes(state) ||
  (state === 'READY' && recover_first);

/** What it was proven to send, or may have sent. */
export function sentBy(seen: SeenNode, node: PlanNode, plan: PlanModel): string {
  const amount = seen.amount ?? planned(node, plan) ?? '0';
  if (isUnderWay(seen)) return amount;
  const submitted = seen.output?.['submitted_amount'];
  if (seen.state !== 'COMPLETED') return '0';
  return typeof submitted === 'string' ? least(submitted, amount) : amount;
}

/** The nodes that draw, each with what is known of it now. */
export function drawing({
  plan,
  nodes,
}: Seen): readonly { readonly node: PlanNode; readonly seen: SeenNode }[] {
  const sources = sourcesOf(plan.nodes, plan.edges);
  return plan.nodes.flatMap((node) => {
    const seen = nodes.find(({ node_key }) => node_key === node.node_key);
    return sources.get(node.node_key) === null && seen !== undefined ? [{ node, seen }] : [];
  });
}

const statesOf = ({ nodes }: Seen): ReadonlyMap<string, string> =>
  new Map(nodes.map(({ node_key, state }) => [node_key, state]));

/** The outflow: by asset, what the plan draws at most; null where nothing bounds it. */
export function outflowOf(plan: PlanModel): ReadonlyMap<string, string | null> {
  const sources = sourcesOf(plan.nodes, plan.edges);
  const draws = plan.nodes.filter(({ node_key }) => sources.get(node_key) === null);
  const assets = [...new Set(draws.map(({ asset }) => asset))].sort();
  return new Map(
    assets.map((asset) => [
      asset,
      dearestDraw(
        draws.map((node) => ({
          node_key: node.node_key,
          amount: node.asset === asset ? planned(node, plan) : '0',
        })),
        plan.nodes,
        plan.edges,
      ),
    ]),
  );
}

/** What an approved movement holds of each of its pools. */
export function holdsOf(movement: Seen): ReadonlyMap<string, string> {
  const all = drawing(movement);
  const over = movement.state === 'FAILED' || movement.state === 'COMPLETED';
  const open = (seen: SeenNode, node: PlanNode): string =>
    ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].includes(seen.state) ||
    (over && !isUnderWay(seen))
      ? '0'
      : (seen.amount ?? planned(node, movement.plan) ?? '0');
  const pools = [...new Set(all.flatMap(({ node }) => poolOf(node) ?? []))].sort();
  return new Map(
    pools.map((pool) => {
      const draws = all.map(({ node, seen }) => ({
        node_key: node.node_key,
        amount: poolOf(node) === pool ? open(seen, node) : '0',
      }));
      return [
        pool,
        dearestDraw(draws, movement.plan.nodes, movement.plan.edges, statesOf(movement)) ?? '0',
      ];
    }),
  );
}

/** What limits count: the outflow in the intent's asset, and never less than the intent. */
export function limitOf(plan: PlanModel): string {
  const { asset, amount } = plan.intent;
  const outflow = outflowOf(plan).get(asset) ?? '0';
  if (outflowOf(plan).get(asset) === null)
    throw new Error('a plan without a bound is approved by no policy');
  return most(outflow, amount);
}

/** What an automatically approved movement uses up of its policy's budget. */
export function budgetOf(movement: Seen): string {
  const limit = limitOf(movement.plan);
  if (movement.state !== 'FAILED' && movement.state !== 'CANCELLED') return limit;
  const { asset } = movement.plan.intent;
  const all = drawing(movement).map(({ node, seen }) => {
    const mayStill =
      movement.state === 'CANCELLED' &&
      ['BLOCKED', 'READY'].includes(seen.state) &&
      !isUnderWay(seen);
    const open =
      mayStill && node.asset === asset ? (seen.amount ?? planned(node, movement.plan) ?? '0') : '0';
    return {
      node_key: node.node_key,
      sent: node.asset === asset ? sentBy(seen, node, movement.plan) : '0',
      amount: open,
    };
  });
  const open =
    dearestDraw(all, movement.plan.nodes, movement.plan.edges, statesOf(movement)) ?? '0';
  return least(limit, add(total(all.map(({ sent }) => sent)), open));
}

/** Whether it counts in its policy's window, though it may use up nothing of the amount. */
export function countsIn(movement: Seen): boolean {
  const { state, plan } = movement;
  return (
    ['FAILED', 'CANCELLED'].includes(state) &&
    drawing(movement).some(
      ({ node, seen }) =>
        compare(sentBy(seen, node, plan), '0') > 0 ||
        (state === 'CANCELLED' && ['BLOCKED', 'READY'].includes(seen.state)),
    )
  );
}

/** What the reservation status says of an approved movement whose run has come to rest. */
export function statusOf(movement: Seen): 'held' | 'consumed' | 'released' {
  if (movement.state === 'COMPLETED') return 'consumed';
  if (movement.state === 'FAILED') return 'released';
  if (movement.state !== 'CANCELLED') return 'held';
  const sends = new Set(
    movement.plan.nodes.filter(({ sends: does }) => does).map(({ node_key }) => node_key),
  );
  // What is READY is a compensation that is retried, and may be sent at any moment.
  const kept = movement.nodes.some(
    (node) =>
      sends.has(node.node_key) && (['COMPLETED', 'READY'].includes(node.state) || isUnderWay(node)),
  );
  return kept ? 'held' : 'released';
}

/** The sum of one node's sends, by the books of those who pay. */
export interface Landed {
  readonly node_key: string;
  readonly asset: string;
  readonly amount: string;
}

/**
 * Where the books say more than was approved: in an asset what landed, less what was passed on, is
 * above the outflow, or more was passed on of a node than landed of it.
 */
export function excesses(
  plan: PlanModel,
  approved: ReadonlyMap<string, string | null>,
  landed: readonly Landed[],
): readonly string[] {
  const sources = sourcesOf(plan.nodes, plan.edges);
  const sum = (wanted: (each: Landed) => boolean): string =>
    total(landed.filter(wanted).map(({ amount }) => amount));
  const passes = (each: Landed): boolean => (sources.get(each.node_key) ?? null) !== null;
  const above = [...new Set(landed.map(({ asset }) => asset))].flatMap((asset) => {
    const limit = approved.get(asset) === undefined ? '0' : approved.get(asset);
    const net = subtract(
      sum((each) => each.asset === asset),
      sum((each) => each.asset === asset && passes(each)),
    );
    return limit === null || limit === undefined || compare(net, limit) <= 0
      ? []
      : [`${net} ${asset} left, ${limit} was approved`];
  });
  const beyond = [...new Set([...sources.values()].filter((from) => from !== null))].flatMap(
    (from) => {
      const [came, went] = [
        sum((each) => each.node_key === from),
        sum((each) => sources.get(each.node_key) === from),
      ];
      return compare(went, came) <= 0
        ? []
        : [`${went} was passed on of ${from}, which sent ${came}`];
    },
  );
  const strange = landed.filter(
    ({ node_key, asset }) =>
      plan.nodes.find((node) => node.node_key === node_key && node.sends)?.asset !== asset,
  );
  return [
    ...above,
    ...beyond,
    ...strange.map(({ node_key, asset }) => `${node_key} sent ${asset}, which it does not`),
  ];
}
