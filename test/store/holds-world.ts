/** Movements of several shapes over several pools, moved as the API and the runs move them, without either. */
import { randomUUID } from 'node:crypto';
import { advance } from '../../domain/actions/advance.ts';
import { approve, approveAutomatically, autoApproveEvent, reject } from '../../domain/actions/approval.ts';
import { cancel, spendsOrMaySpend } from '../../domain/actions/cancel.ts';
import { retry } from '../../domain/actions/retry.ts';
import { forLateReasons } from '../../domain/auto-approve/checks.ts';
import { evaluatePolicy } from '../../domain/auto-approve/policy.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import type { GraphEdge } from '../../domain/graph/types.ts';
import { walk } from '../../domain/graph/walk.ts';
import { compilePlan } from '../../domain/plan/compile.ts';
import type { PlanTemplate, TemplateNode } from '../../domain/plan/types.ts';
import { newSnapshot, toWalk, type MovementSnapshot } from '../../domain/snapshot.ts';
import type { NodeState } from '../../domain/states/node.ts';
import type { Transition, TransitionOutcome } from '../../domain/transition.ts';
import { readPolicyFacts, type PolicyRecord } from '../../store/auto-approve.ts';
import { createApproved, createMovement, readSnapshot, type CreateOutcome } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import type { StoreBench } from './support.ts';

export const CLIENT = randomUUID();
const REQUESTER = { caller: { client_id: CLIENT, key_id: 'k', role: 'operator' }, request_id: 'r' } as const;
/** Longer than a test takes; what is older is so because the test made it so. */
const FRESH_SECONDS = 3_600;

const spending = (
  node_key: string,
  config: TemplateNode['config'] & object,
  node_kind: TemplateNode['node_kind'] = 'action',
): TemplateNode => ({
  node_key,
  node_kind,
  action_type: 'noop',
  has_side_effect: true,
  config: { asset: 'USDC', ...config },
});
const edge = (from: string, to: string, edge_type: GraphEdge['edge_type'] = 'on_success'): GraphEdge => ({
  from,
  to,
  edge_type,
  join_key: null,
  priority: 0,
  condition_expr: null,
});

/** What a movement may look like, given two venues. */
export const SHAPES = ['one', 'two pools', 'twice', 'fed', 'compensated', 'of no venue'] as const;
export type ShapeName = (typeof SHAPES)[number];
type Shape = Pick<PlanTemplate, 'nodes' | 'edges'>;
const shapes: Readonly<Record<ShapeName, (a: string, b: string) => Shape>> = {
  one: (a) => ({ nodes: [spending('x', { venue: a })], edges: [] }),
  // In the other order than the pools' keys.
  'two pools': (a, b) => ({ nodes: [spending('x', { venue: b }), spending('y', { venue: a, amount: '2.5' })], edges: [edge('x', 'y')] }),
  twice: (a) => ({
    nodes: [spending('x', { venue: a, asset: 'usdc' }), spending('y', { venue: a, account_type: 'spot', amount: '1' })],
    edges: [],
  }),
  fed: (a, b) => ({
    nodes: [spending('x', { venue: a, account_type: 'FUNDING' }), spending('y', { venue: b, amount_ref: 'nodes.x.output.got' })],
    edges: [edge('x', 'y')],
  }),
  compensated: (a, b) => ({
    nodes: [spending('x', { venue: a }), spending('y', { venue: b, amount: '0.1' }, 'compensation')],
    edges: [edge('x', 'y', 'on_failure'), edge('x', 'y', 'on_cancel')],
  }),
  'of no venue': () => ({ nodes: [spending('x', {})], edges: [] }),
};

export type Verb = 'approve' | 'reject' | 'cancel' | 'retry';
/** What happens to a node: it passes its fence, or comes to an outcome. */
export type Happening = 'fence' | 'COMPLETED' | 'FAILED' | 'UNKNOWN';

export interface World {
  readonly venues: readonly [string, string];
  create(shape: ShapeName, amount: string, policy: PolicyRecord | null): Promise<CreateOutcome | null>;
  /** Null where the action is none of the movement's. */
  act(verb: Verb, id: string): Promise<TransitionOutcome | null>;
  /** Of the first node to which it can happen; null where there is none. */
  happen(happening: Happening, id: string): Promise<TransitionOutcome | null>;
  /** As the run does after every change: walks and writes until nothing follows. */
  settle(id: string): Promise<void>;
  snapshot(id: string): Promise<MovementSnapshot>;
}

const covered = (transition: Transition): Transition =>
  transition.holds === undefined
    ? transition
    : { ...transition, holds: transition.holds.map((hold) => ({ ...hold, stale_after_seconds: FRESH_SECONDS })) };

const MOVES: Readonly<Record<Happening, Partial<Record<NodeState, readonly NodeState[]>>>> = {
  fence: { READY: ['SUBMITTING'] },
  // A node with an effect completes behind its fence only; it may fail before.
  COMPLETED: { READY: ['SUBMITTING', 'COMPLETED'], SUBMITTING: ['COMPLETED'], UNKNOWN: ['COMPLETED'] },
  FAILED: { READY: ['FAILED'], SUBMITTING: ['FAILED'], UNKNOWN: ['FAILED'] },
  UNKNOWN: { SUBMITTING: ['UNKNOWN'] },
};

/** Movements over two venues that nobody else uses. */
export function worldOf(bench: StoreBench): World {
  const venues = [`a-${randomUUID()}`, `b-${randomUUID()}`] as const;
  const snapshot = (id: string): Promise<MovementSnapshot> => readSnapshot(bench.db, id);
  const apply = (transition: Transition): Promise<TransitionOutcome> => applyTransition(bench.db, covered(transition));
  return {
    venues,
    snapshot,
    create: (shape, amount, policy) => create(bench, { ...shapes[shape](...venues), amount, policy }),
    act: async (verb, id) => {
      const transition = transitionOf(verb, await snapshot(id));
      return transition === null ? null : apply(transition);
    },
    happen: async (happening, id) => {
      const { nodes } = await snapshot(id);
      const node = nodes.find(({ state }) => MOVES[happening][state] !== undefined);
      if (node === undefined) return null;
      const moves = MOVES[happening][node.state] ?? [];
      const epoch = moves.includes('SUBMITTING') ? { submit_epoch: node.submit_epoch + 1 } : {};
      const ended = happening === 'COMPLETED' ? ({ output: { got: '3' }, completed_at: '@now' } as const) : {};
      const failed = happening === 'FAILED' ? ({ error_code: 'X', completed_at: '@now' } as const) : {};
      const set = { ...epoch, ...ended, ...failed };
      return apply({
        movement_id: id,
        nodes: [{ node_key: node.node_key, from: node.state, attempt: node.attempt, moves, set }],
        timeline: [],
      });
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

function transitionOf(verb: Verb, snapshot: MovementSnapshot): Transition | null {
  if (verb === 'approve') return approve(snapshot, { compiled_plan_hash: 'a'.repeat(64), approver_id: 'p' }, REQUESTER);
  if (verb === 'reject') return reject(snapshot.movement_id, {}, REQUESTER);
  return verb === 'cancel' ? cancel(snapshot, REQUESTER) : retry(snapshot, REQUESTER);
}

/** What the run would write now; null when the database says it all. */
function decisionOf(snapshot: MovementSnapshot): Transition | null {
  const next = walk(toWalk(snapshot));
  const over = ['PENDING_APPROVAL', 'COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED'].includes(snapshot.state);
  const same = next.state === snapshot.state && next.ready.length + next.skip.length === 0;
  // A cancelled movement that has ended its hold, or keeps it for good, says so by the hold alone.
  const spent = spendsOrMaySpend(snapshot);
  const ends = next.ended && (next.state !== 'CANCELLED' || (snapshot.reservation_status === 'held' && !spent));
  if (over || (same && !ends)) return null;
  const named = (keys: readonly string[]) => snapshot.nodes.filter(({ node_key }) => keys.includes(node_key));
  const { movement_id, version, state: from } = snapshot;
  const { state: to, frontier, ended, failure } = next;
  const args = { movement_id, version, from, to, frontier, ended, failure, ready: named(next.ready), skip: named(next.skip), stop: [] };
  return advance(args, snapshot.reservation_status, spent);
}

async function create(
  bench: StoreBench,
  { amount, policy, ...shape }: Shape & { readonly amount: string; readonly policy: PolicyRecord | null },
): Promise<CreateOutcome | null> {
  const strategy_id = policy?.strategy_id ?? null;
  const { plan: plain, ...rest } = bench.draft({ amount, ...(strategy_id === null ? {} : { strategy_id }) });
  const binding = { executor_binding: { executor_key: 'builtin.noop' }, signer_binding: null };
  const template = { ...plain.template, ...shape, risk_controls: plain.risk_controls, completion_policy: plain.completion_policy };
  const plan = compilePlan(
    template,
    { intent: plain.intent, input_params: {} },
    new Map(shape.nodes.map(({ node_key }) => [node_key, binding])),
  );
  const draft = { ...rest, plan, frontier: [...rootNodes(plan)] };
  if (strategy_id === null) return createMovement(bench.db, { ...draft, auto_approve_result: null });
  const { switched_off, ...facts } = await readPolicyFacts(bench.db, { client_id: CLIENT, strategy_id }, { executors: [], signers: [] });
  const request = { client_id: CLIENT, asset: 'USDC', amount, template_key: 'test/store', template_version: 1 };
  const evaluation = evaluatePolicy(request, { ...facts, bindings_available: switched_off.length === 0 }, false);
  const { result } = evaluation;
  const decided = { ...draft, auto_approve_result: result };
  if (evaluation.guard === null) return createMovement(bench.db, decided);
  const { guard, refused } = evaluation;
  const hash = { compiled_plan_hash: draft.compiled_plan_hash, result };
  const outcome = await createApproved(bench.db, decided, {
    transition: (id) => covered(approveAutomatically(newSnapshot(id, plan), hash, REQUESTER)),
    guard,
    refused: forLateReasons((reason) => ({ result: refused[reason], timeline: [autoApproveEvent(refused[reason])] })),
  });
  if (outcome.created !== null) return outcome;
  // What the API does when even a new snapshot does not help: a person decides.
  return createMovement(bench.db, { ...draft, auto_approve_result: refused.insufficient_effective_withdrawable });
}
