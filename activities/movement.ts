/** Builds the activities of a movement from explicit dependencies. */
import { expire } from '../domain/commands/approval.ts';
import { decide, decided, nextOf } from '../domain/decision.ts';
import {
  venueTaskQueue,
  type LoadArgs,
  type LoadedMovement,
  type MovementActivities,
  type Phase,
  type RecoverArgs,
} from '../domain/messages.ts';
import type { MovementState } from '../domain/states/movement.ts';
import { writeWake } from '../store/commands.ts';
import { loadMovement, readPlanNodes } from '../store/phases.ts';
import { applyTransition } from '../store/transition.ts';
import { writeDecision, writeIfItFollows } from './decisions.ts';
import { beating, named } from './guarded.ts';
import { cancel } from './phases/cancel.ts';
import {
  preflightAndLook,
  preflightAndPrepare,
  nullAfter,
  submitAndLook,
  wholeChain,
} from './phases/chain.ts';
import type { PhaseDependencies } from './phases/context.ts';
import { runPhase } from './phases/phase.ts';
import { ask, record, STEPS } from './phases/team.ts';

/**
 * Returns the activities. Each is safe to run again: it first returns the result that the database
 * already records.
 */
export function createMovementActivities(deps: PhaseDependencies): MovementActivities {
  const phase = (name: Phase) => (args: RecoverArgs) =>
    beating(deps, () => runPhase(deps, STEPS[name], args));
  return {
    load: (args) => load(deps, args),
    async decide(args) {
      const decided = await writeIfItFollows(deps.db, args);
      const { begin } = args;
      if (!decided.applied || begin === undefined) return decided;
      const first = await nullAfter(deps, () => preflightAndPrepare(deps, begin));
      return first === null ? decided : { ...decided, begun: first };
    },
    async expire({ movement_id }) {
      // The database refuses the expiry when an approval came first, or when it is too early by the
      // database's clock; the run then loads the movement and sees its state.
      await applyTransition(deps.db, expire(movement_id));
    },
    queueOf: ({ movement_id, node_key }) =>
      named(deps, async () => (await queuesOfNodes(deps, movement_id)).get(node_key) ?? null),
    leaveBuild: ({ movement_id }) => named(deps, () => writeWake(deps.db, movement_id)),
    preflight: (args) => {
      // `whole` marks a node that only looks. The activity keeps its name, because older workers
      // know it.
      if (args.whole === true) return beating(deps, () => preflightAndLook(deps, args));
      return args.chained === true
        ? beating(deps, () => preflightAndPrepare(deps, args))
        : phase('preflight')(args);
    },
    prepare: phase('prepare'),
    submit: (args) => {
      if (args.whole === true) return beating(deps, (tell) => wholeChain(deps, args, tell));
      return args.chained === true
        ? beating(deps, () => submitAndLook(deps, args))
        : phase('submit')(args);
    },
    observe: phase('observe'),
    recover: phase('recover'),
    cancel: (args) => beating(deps, () => cancel(deps, args)),
    ask: (args) => beating(deps, () => ask(deps, args)),
    record: (args) => named(deps, () => record(deps, args)),
  };
}

/**
 * Loads the movement. With `decides`, it also writes the next decision, so that the run can start
 * ready nodes at once.
 */
async function load(
  deps: PhaseDependencies,
  { movement_id, run_id, decides }: LoadArgs,
): Promise<LoadedMovement | null> {
  const view = await describedView(deps, movement_id, run_id);
  if (view === null || decides !== true || !DECIDED_AT_ONCE.includes(view.state)) return view;
  try {
    const decision = decide(view, nextOf(view), new Set());
    if (decision === null) return view;
    const outcome = await writeDecision(deps.db, decision);
    return outcome.ok ? decided(view, decision, outcome.head?.version ?? view.version) : view;
  } catch (error) {
    // This load has marked commands as seen, so its view must reach the run, which then decides
    // itself.
    deps.log.warn(
      { err: error, movement_id },
      'a load could not write the next decision; the run decides',
    );
    return view;
  }
}

/**
 * States in which a load writes the next decision. After a cancel only the run may decide: only the
 * run knows which nodes it has stopped.
 */
const DECIDED_AT_ONCE: readonly MovementState[] = [
  'APPROVED',
  'EXECUTING',
  'WAITING_MANUAL_ACTION',
  'MANUAL_INTERVENTION',
];

/** Loads the movement and adds how this process calls the executor of each node. */
async function describedView(
  deps: PhaseDependencies,
  movementId: string,
  runId: string,
): Promise<LoadedMovement | null> {
  // Read first: a load marks commands as seen, so after it nothing may fail.
  const queues = await queuesOfNodes(deps, movementId);
  const movement = await loadMovement(deps.db, movementId, runId);
  if (movement === null) return null;
  return {
    ...movement,
    conduct: 5,
    nodes: movement.nodes.map(({ signs, ...node }) => {
      const descriptor = deps.executors.describe(node.executor_key);
      if (descriptor?.task_queue !== undefined) {
        const { task_queue } = descriptor;
        return { ...node, task_queue, ...(signs === true ? { signs } : {}) };
      }
      if (descriptor === undefined) return node;
      const venue_queue = queues.get(node.node_key);
      if (venue_queue !== undefined) return { ...node, chained: true, venue_queue };
      return { ...node, chained: true, ...(descriptor.in_process ? { carried: true } : {}) };
    }),
  };
}

/** Returns the task queues of the movement's nodes whose venue has one, by node key. */
async function queuesOfNodes(
  { db, queuedVenues = new Set() }: PhaseDependencies,
  movementId: string,
): Promise<ReadonlyMap<string, string>> {
  if (queuedVenues.size === 0) return new Map();
  const nodes = await readPlanNodes(db, movementId);
  return new Map(
    nodes.flatMap(({ node_key, config: { venue } }) =>
      typeof venue === 'string' && queuedVenues.has(venue)
        ? [[node_key, venueTaskQueue(venue)] as const]
        : [],
    ),
  );
}
