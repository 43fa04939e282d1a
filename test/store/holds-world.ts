/**
 * Movements of several shapes over several pools, moved as the API and the runs move them, without
 * either.
 */
import { randomUUID } from 'node:crypto';
import { advance } from '../../domain/commands/advance.ts';
import {
  approve,
  approveAutomatically,
  autoApproveEvent,
  reject,
} from '../../domain/commands/approval.ts';
import { cancel, spendsOrMaySpend } from '../../domain/commands/cancel.ts';
import { resume } from '../../domain/commands/resume.ts';
import { retry } from '../../domain/commands/retry.ts';
import { forLateReasons } from '../../domain/auto-approve/checks.ts';
import { evaluatePolicy } from '../../domain/auto-approve/policy.ts';
import type { GraphEdge } from '../../domain/graph/types.ts';
import { walk } from '../../domain/graph/walk.ts';
import { resolveAmount } from '../../domain/plan/amount.ts';
import type { PlanTemplate, TemplateNode } from '../../domain/plan/types.ts';
import {
  newSnapshot,
  toWalk,
  type MovementSnapshot,
  type NodeSnapshot,
} from '../../domain/snapshot.ts';
import type { NodeState } from '../../domain/states/node.ts';
import {
  NOW,
  type NodeChange,
  type Take,
  type Transition,
  type TransitionOutcome,
} from '../../domain/transition.ts';
import { readPolicyFacts, type PolicyRecord } from '../../store/auto-approve.ts';
import {
  createApproved,
  createMovement,
  readSnapshot,
  type CreateOutcome,
} from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { paying, type StoreBench } from './support.ts';

export const CLIENT = randomUUID();
const REQUESTER = {
  caller: { client_id: CLIENT, key_id: 'k', role: 'operator' },
  request_id: 'r',
} as const;
/** Longer than a test takes; what is older is so because the test made it so. */
const FRESH_SECONDS = 3_600;

const spending = (
  node_key: string,
  { asset = 'USDC', ...config }: TemplateNode['config'] & object,
  node_kind: TemplateNode['node_kind'] = 'action',
): TemplateNode => paying(node_key, { asset, ...config }, node_kind);
const waiting = (node_key: string): TemplateNode => ({
  node_key,
  node_kind: 'manual_gate',
  action_type: 'manual_gate',
  has_side_effect: false,
});
const observing = (node_key: string, match_from: string): TemplateNode => ({
  node_key,
  node_kind: 'observe',
  action_type: 'cex_deposit_observe',
  has_side_effect: false,
  config: { match_from, asset: 'USDC' },
});
const edge = (
  from: string,
  to: string,
  edge_type: GraphEdge['edge_type'] = 'on_success',
  priority = 0,
): GraphEdge => ({
  from,
  to,
  edge_type,
  join_key: null,
  priority,
  condition_expr: null,
});

/** Plans of a movement over two venues. */
export const SHAPES = [
  'one',
  'two pools',
  'twice',
  'fed',
  'compensated',
  'of no venue',
  'exclusive',
  'nested',
  'priorities',
  'gated',
  'observed',
  'unknown',
] as const;
export type ShapeName = (typeof SHAPES)[number];
type Shape = Pick<PlanTemplate, 'nodes' | 'edges'>;
const shapes: Readonly<Record<ShapeName, (a: string, b: string) => Shape>> = {
  one: (a) => ({ nodes: [spending('x', { venue: a })], edges: [] }),
  // In the other order than the pools' keys.
  'two pools': (a, b) => ({
    nodes: [spending('x', { venue: b }), spending('y', { venue: a, amount: '2.5' })],
    edges: [edge('x', 'y')],
  }),
  // An exchange's withdrawal leaves its spot account, whatever the config says of another.
  twice: (a) => ({
    nodes: [
      {
        ...spending('x', { venue: a, asset: 'usdc', account_type: 'funding' }),
        action_type: 'cex_withdrawal',
      },
      spending('y', { venue: a, account_type: 'spot', amount: '1' }),
    ],
    edges: [],
  }),
  fed: (a, b) => ({
    nodes: [
      spending('x', { venue: a, account_type: 'FUNDING' }),
      spending('y', { venue: b, amount_ref: 'nodes.x.output.submitted_amount' }),
    ],
    edges: [edge('x', 'y')],
  }),
  compensated: (a, b) => ({
    nodes: [
      spending('x', { venue: a }),
      spending('y', { venue: b, amount: '0.1' }, 'compensation'),
    ],
    edges: [edge('x', 'y', 'on_failure'), edge('x', 'y', 'on_cancel')],
  }),
  'of no venue': () => ({ nodes: [spending('x', {})], edges: [] }),
  exclusive: (a, b) => ({
    nodes: [
      spending('x', { venue: a }),
      spending('y', { venue: a, amount: '2.5' }),
      spending('z', { venue: a, amount: '1' }),
      spending('w', { venue: b }),
    ],
    edges: [edge('x', 'y', 'on_failure'), edge('x', 'z'), edge('x', 'w', 'on_timeout')],
  }),
  nested: (a) => ({
    nodes: ['x', 'y', 'z', 'v', 'w'].map((key) =>
      spending(key, { venue: a, ...(key === 'x' || key === 'z' ? {} : { amount: '1' }) }),
    ),
    edges: [
      edge('x', 'y'),
      edge('y', 'z', 'on_failure'),
      edge('y', 'v'),
      edge('x', 'w', 'on_failure'),
      edge('w', 'v'),
    ],
  }),
  priorities: (a, b) => ({
    nodes: [
      waiting('g'),
      spending('x', { venue: a }),
      spending('y', { venue: a, amount: '2.5' }),
      spending('z', { venue: b, amount: '0.1' }),
    ],
    edges: [edge('g', 'x', 'on_success', 1), edge('g', 'y'), edge('x', 'z', 'on_cancel')],
  }),
  gated: (a) => ({
    nodes: [
      spending('x', { venue: a }),
      waiting('g'),
      spending('y', { venue: a, amount: '1' }),
      spending('u', { venue: a, amount: '0.1' }, 'compensation'),
    ],
    edges: [edge('x', 'g'), edge('g', 'y', 'on_manual_resume'), edge('x', 'u', 'on_cancel')],
  }),
  observed: (a, b) => ({
    nodes: [
      spending('x', { venue: a }),
      observing('o', 'x'),
      spending('y', { venue: b, amount_ref: 'nodes.o.output.received_amount' }),
    ],
    edges: [edge('x', 'o'), edge('o', 'y')],
  }),
  unknown: (a) => ({
    nodes: [
      waiting('g'),
      {
        ...spending('x', { venue: a, amount_ref: 'nodes.g.output.amount' }),
        risk_patch: { max_amount: '3' },
      },
    ],
    edges: [edge('g', 'x')],
  }),
};

export type Verb = 'approve' | 'reject' | 'cancel' | 'retry' | 'resume';
/** What happens to a node: it passes its fence, or comes to an outcome. */
export type Happening = 'fence' | 'COMPLETED' | 'PART' | 'FAILED' | 'TIMEOUT' | 'UNKNOWN';

export interface World {
  readonly venues: readonly [string, string];
  create(
    shape: ShapeName,
    amount: string,
    policy: PolicyRecord | null,
  ): Promise<CreateOutcome | null>;
  /** Null where the action is none of the movement's. */
  act(verb: Verb, id: string): Promise<TransitionOutcome | null>;
  /** What the action would leave, without doing it. */
  preview(verb: Verb, id: string): Promise<MovementSnapshot | null>;
  /** Of the first node to which it can happen; null where there is none. */
  happen(happening: Happening, id: string): Promise<TransitionOutcome | null>;
  /** As the run does after every change: walks and writes until nothing follows. */
  settle(id: string): Promise<void>;
  snapshot(id: string): Promise<MovementSnapshot>;
}

const MOVES: Readonly<
  Record<
    'fence' | 'COMPLETED' | 'FAILED' | 'UNKNOWN',
    Partial<Record<NodeState, readonly NodeState[]>>
  >
> = {
  fence: { READY: ['SUBMITTING'] },
  // A node with an effect completes behind its fence only; it may fail before.
  COMPLETED: {
    READY: ['SUBMITTING', 'COMPLETED'],
    SUBMITTING: ['COMPLETED'],
    OBSERVING: ['COMPLETED'],
    UNKNOWN: ['COMPLETED'],
  },
  FAILED: { READY: ['FAILED'], SUBMITTING: ['FAILED'], OBSERVING: ['FAILED'], UNKNOWN: ['FAILED'] },
  UNKNOWN: { SUBMITTING: ['UNKNOWN'], OBSERVING: ['UNKNOWN'] },
};
const LEADS_TO = {
  fence: 'fence',
  COMPLETED: 'COMPLETED',
  PART: 'COMPLETED',
  FAILED: 'FAILED',
  TIMEOUT: 'FAILED',
  UNKNOWN: 'UNKNOWN',
} as const;
/** Less than any amount that is sent here. */
const A_PART = '0.05';

/** What an output decides of an amount that the plan leaves open. */
const FOUND = '2';

/** How the node ends or goes on, or null where that cannot happen to it now. */
function changeOf(
  happening: Happening,
  { plan, nodes }: MovementSnapshot,
  { node_key, state, attempt, submit_epoch, amount: known }: NodeSnapshot,
): NodeChange | null {
  const node = plan.nodes.find((each) => each.node_key === node_key);
  const moves = MOVES[LEADS_TO[happening]][state];
  if (node === undefined || moves === undefined) return null;
  const sent = (key: string): string =>
    String(nodes.find((each) => each.node_key === key)?.output?.['submitted_amount']);
  const amount =
    known ??
    resolveAmount(node.config, plan.intent.amount, (key) =>
      key === 'g' ? { amount: FOUND } : { submitted_amount: sent('x'), received_amount: sent('x') },
    );
  if (!node.sends) {
    if (LEADS_TO[happening] !== 'COMPLETED' || state !== 'READY') return null;
    const resumed = node.node_kind === 'manual_gate';
    return {
      node_key,
      from: state,
      attempt,
      moves: ['COMPLETED'],
      set: { completed_at: NOW, resumed },
    };
  }
  if (amount === null) throw new Error(`no amount for ${node_key}`);
  return {
    node_key,
    from: state,
    attempt,
    moves,
    set: {
      ...(moves.includes('SUBMITTING') ? { submit_epoch: submit_epoch + 1, amount } : {}),
      ...(LEADS_TO[happening] === 'COMPLETED'
        ? {
            output: { submitted_amount: happening === 'PART' ? A_PART : amount },
            completed_at: NOW,
          }
        : {}),
      ...(LEADS_TO[happening] === 'FAILED'
        ? { error_code: happening === 'TIMEOUT' ? 'NODE_TIMED_OUT' : 'X', completed_at: NOW }
        : {}),
    },
  };
}

/** How a transition leaves a movement, but for times. */
function applied(snapshot: MovementSnapshot, { to, nodes = [] }: Transition): MovementSnapshot {
  const changes = new Map(nodes.map((change) => [change.node_key, change]));
  return {
    ...snapshot,
    state: to ?? snapshot.state,
    nodes: snapshot.nodes.map((node) => {
      const { moves = [], set: { recover_first = node.recover_first, output = node.output } = {} } =
        changes.get(node.node_key) ?? {};
      return { ...node, state: moves.at(-1) ?? node.state, recover_first, output };
    }),
  };
}

/** Movements over two venues of their own. */
export function worldOf(bench: StoreBench): World {
  const venues = [`a-${randomUUID()}`, `b-${randomUUID()}`] as const;
  const snapshot = (id: string): Promise<MovementSnapshot> => readSnapshot(bench.db, id);
  const apply = (transition: Transition): Promise<TransitionOutcome> =>
    applyTransition(bench.db, transition);
  // No fence passes a node before its earlier send is looked up: here nothing has landed.
  const askFirst = async (
    { node_key, from, moves }: NodeChange,
    { movement_id, nodes }: MovementSnapshot,
  ): Promise<void> => {
    const asks = nodes.some((node) => node.node_key === node_key && node.recover_first);
    if (!asks || !moves.includes('SUBMITTING')) return;
    const lookedUp: NodeChange = { node_key, from, moves: [], set: { recover_first: false } };
    const { ok } = await apply({ movement_id, nodes: [lookedUp], timeline: [] });
    if (!ok) throw new Error(`${node_key} could not be looked up`);
  };
  return {
    venues,
    snapshot,
    create: (shape, amount, policy) =>
      create(bench, { ...shapes[shape](...venues), amount, policy, venues }),
    act: async (verb, id) => {
      const transition = transitionOf(verb, await snapshot(id));
      if (transition === null) return null;
      return apply(TAKING.includes(verb) ? { ...transition, take: takeAt(venues) } : transition);
    },
    preview: async (verb, id) => {
      const before = await snapshot(id);
      const transition = transitionOf(verb, before);
      return transition === null ? null : applied(before, transition);
    },
    happen: async (happening, id) => {
      const before = await snapshot(id);
      const [change] = before.nodes.flatMap((node) => changeOf(happening, before, node) ?? []);
      if (change === undefined) return null;
      await askFirst(change, before);
      const amount = change.set?.amount;
      // Every send passes its fence, which refuses nothing that the plan has.
      const require =
        typeof amount === 'string'
          ? { require: { executors: [], signers: [], flow: { node_key: change.node_key, amount } } }
          : {};
      return apply({ movement_id: id, nodes: [change], ...require, timeline: [] });
    },
    settle: async (id) => {
      for (let steps = 0; steps < 20; steps += 1) {
        const decision = decisionOf(await snapshot(id));
        if (decision === null || !(await apply(decision)).ok) return;
      }
      throw new Error('a walk does not end');
    },
  };
}

/** What the API asks where somebody takes funds. */
const TAKING: readonly Verb[] = ['approve', 'retry', 'resume'];
const takeAt = (venues: readonly string[]): Take => ({
  venues,
  stale_after_seconds: FRESH_SECONDS,
});

function transitionOf(verb: Verb, snapshot: MovementSnapshot): Transition | null {
  if (verb === 'approve')
    return approve(snapshot, { compiled_plan_hash: 'a'.repeat(64), approver_id: 'p' }, REQUESTER);
  if (verb === 'reject') return reject(snapshot.movement_id, {}, REQUESTER);
  if (verb === 'resume') return resume(snapshot, REQUESTER);
  return verb === 'cancel' ? cancel(snapshot, REQUESTER) : retry(snapshot, REQUESTER);
}

/** What the run would write now; null when the database says it all. */
function decisionOf(snapshot: MovementSnapshot): Transition | null {
  const next = walk(toWalk(snapshot));
  const over = ['PENDING_APPROVAL', 'COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED'].includes(
    snapshot.state,
  );
  const same = next.state === snapshot.state && next.ready.length + next.skip.length === 0;
  // A cancelled movement that has ended its hold, or keeps it for good, says so by the hold alone.
  const spent = spendsOrMaySpend(snapshot);
  const ends =
    next.ended &&
    (next.state !== 'CANCELLED' || (snapshot.reservation_status === 'held' && !spent));
  if (over || (same && !ends)) return null;
  const named = (keys: readonly string[]) =>
    snapshot.nodes.filter(({ node_key }) => keys.includes(node_key));
  const { movement_id, version, state: from } = snapshot;
  const { state: to, frontier, ended, failure } = next;
  const args = {
    movement_id,
    version,
    from,
    to,
    frontier,
    ended,
    failure,
    ready: named(next.ready),
    skip: named(next.skip),
    stop: [],
  };
  return advance(args, snapshot.reservation_status, spent);
}

interface Wanted extends Shape {
  readonly amount: string;
  readonly policy: PolicyRecord | null;
  readonly venues: readonly string[];
}

async function create(
  bench: StoreBench,
  { amount, policy, venues, ...shape }: Wanted,
): Promise<CreateOutcome | null> {
  const strategy_id = policy?.strategy_id ?? null;
  const draft = bench.draft({ amount, shape, ...(strategy_id === null ? {} : { strategy_id }) });
  const { plan } = draft;
  if (strategy_id === null)
    return createMovement(bench.db, { ...draft, auto_approve_result: null });
  const { switched_off, ...facts } = await readPolicyFacts(
    bench.db,
    { client_id: CLIENT, strategy_id },
    { executors: [], signers: [] },
  );
  const request = {
    client_id: CLIENT,
    asset: 'USDC',
    amount,
    outflow: plan.outflow,
    only_observes: false,
    template_key: 'test/store',
    template_version: 1,
  };
  const evaluation = evaluatePolicy(
    request,
    { ...facts, bindings_available: switched_off.length === 0 },
    false,
  );
  const { result } = evaluation;
  const decided = { ...draft, auto_approve_result: result };
  if (evaluation.guard === null) return createMovement(bench.db, decided);
  const { guard, refused } = evaluation;
  const hash = { compiled_plan_hash: draft.compiled_plan_hash, result };
  const outcome = await createApproved(bench.db, decided, {
    transition: (id) => ({
      ...approveAutomatically(newSnapshot(id, plan), hash, REQUESTER),
      take: takeAt(venues),
    }),
    guard,
    refused: forLateReasons((reason) => ({
      result: refused[reason],
      timeline: [autoApproveEvent(refused[reason])],
    })),
  });
  if (outcome.created !== null) return outcome;
  // What the API does when even a new snapshot does not help: a person decides.
  return createMovement(bench.db, {
    ...draft,
    auto_approve_result: refused.insufficient_effective_withdrawable,
  });
}
