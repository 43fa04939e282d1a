/**
 * The run of a movement. Postgres holds the truth; this loads it, walks the graph, runs what is ready
 * and writes each decision as compare-and-set. A signal means only "look again".
 */
import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineSignal,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { withConditions } from '../domain/conditions/apply.ts';
import { onCancelTargets } from '../domain/graph/edges.ts';
import { walk, type WalkResult } from '../domain/graph/walk.ts';
import {
  SIGNALS,
  type ConditionResults,
  type DecideArgs,
  type LoadedMovement,
  type LoadedNode,
  type MovementActivities,
  type PhaseArgs,
  type PhaseResult,
} from '../domain/messages.ts';
import { walkNode } from '../domain/snapshot.ts';
import { chains, decideOptions, LOCAL_OPTIONS, runsLocally } from './activity-options.ts';
import { show } from './details.ts';
import { runNode, type NodeEnd } from './node.ts';
import { askToCancel as askExecutor } from './phases.ts';
import { has } from './versions.ts';

const local = proxyLocalActivities<MovementActivities>(LOCAL_OPTIONS);

/** How a run closed. FAILED closes as a failure instead, so that the close status tells it. */
export interface MovementOutcome {
  readonly movement_id: string;
  readonly request_state: string;
}

export async function movementWorkflow(movementId: string): Promise<MovementOutcome> {
  let wakes = 0;
  let submits = 0;
  let settled = 0;
  let shown: string | null = null;
  const running = new Map<string, number>();
  const begun = new Map<string, PhaseResult>();
  const ends = new Map<string, NodeEnd>();
  const stopped = new Set<string>();
  const asked = new Set<string>();
  for (const name of SIGNALS) setHandler(defineSignal<[string | null]>(name), () => void (wakes += 1));

  const start = (node: LoadedNode): void => {
    running.set(node.node_key, node.attempt);
    const run = runNode(
      node,
      {
        movementId,
        wakes: () => wakes,
        submitting: (by) => void (submits += by),
      },
      begun.get(attemptOf(node)),
    );
    begun.delete(attemptOf(node));
    void run.then((end) => {
      running.delete(node.node_key);
      ends.set(node.node_key, end);
      if (end.stopped) stopped.add(attemptOf(node));
      settled += 1;
    });
  };

  const idle = (node: LoadedNode): boolean => !running.has(node.node_key) && !stopped.has(attemptOf(node));
  // What nobody can see is not shown: a state that the same task leaves again costs an event and an index write.
  const tell = (view: LoadedMovement, when: 'changed' | 'pausing'): void => {
    if (when === (view.conduct === undefined ? 'changed' : 'pausing')) shown = show(view, shown);
  };

  for (;;) {
    const seen = wakes;
    let view = await local.load({ movement_id: movementId, run_id: workflowInfo().runId });
    if (view === null) throw ApplicationFailure.nonRetryable(`no movement ${movementId} in the database`, 'MOVEMENT_NOT_FOUND');
    ends.clear();
    tell(view, 'changed');

    // Until something else changes the movement, this run alone does, and its own view stays true.
    while (wakes === seen) {
      if (view.ended) {
        tell(view, 'pausing');
        return close(view);
      }
      if (view.state === 'PENDING_APPROVAL') {
        tell(view, 'pausing');
        const woken = await condition(() => wakes !== seen, Math.max(view.ttl_ms, 10));
        if (!woken) await local.expire({ movement_id: movementId });
        break;
      }
      const next = nextOf(view);
      const decision = decide(view, next, stopped);
      if (decision !== null) {
        const begin = beginning(view, decision, idle);
        const written = await proxyLocalActivities<MovementActivities>(decideOptions(begin?.node_key)).decide({
          ...decision,
          ...(begin === undefined ? {} : { begin }),
        });
        if (!written.applied) break;
        if (begin !== undefined && written.begun !== undefined) begun.set(attemptOf(begin), written.begun);
        view = decided(view, decision, written.version);
        tell(view, 'changed');
        continue;
      }
      for (const node of view.nodes) {
        if (next.run.includes(node.node_key) && idle(node)) start(node);
      }
      if (view.state === 'CANCELLED') askToCancel(view, asked);
      if (workflowInfo().continueAsNewSuggested && submits === 0) return continueAsNew<typeof movementWorkflow>(movementId);
      const before = settled;
      tell(view, 'pausing');
      await condition(() => wakes !== seen || settled !== before);
      view = withEnds(view, ends);
      tell(view, 'changed');
    }
  }
}

/** Asks the executors of nodes that were in flight when the movement was cancelled, once a run. */
function askToCancel(view: LoadedMovement, asked: Set<string>): void {
  const lane = onCancelTargets(view.edges);
  for (const node of view.nodes) {
    const inFlight = node.state === 'SUBMITTED' || node.state === 'OBSERVING' || node.state === 'SUBMITTING';
    if (!inFlight || lane.has(node.node_key) || asked.has(node.node_key)) continue;
    if (!has('ask-executor-to-cancel')) return;
    asked.add(node.node_key);
    // What becomes of it is seen where the node is observed; a request that fails changes nothing.
    askExecutor(node, { movement_id: view.movement_id, node_key: node.node_key, attempt: node.attempt }).catch(() => undefined);
  }
}

function close(view: LoadedMovement): MovementOutcome {
  if (view.state === 'FAILED') {
    throw ApplicationFailure.create({
      message: `movement failed: ${view.error_code ?? 'unknown'}`,
      type: view.error_code ?? 'MOVEMENT_FAILED',
      nonRetryable: true,
      details: [{ movement_id: view.movement_id, request_state: view.state }],
    });
  }
  return { movement_id: view.movement_id, request_state: view.state };
}

/** What must be written before anything runs; null when the database already says it all. */
function decide(view: LoadedMovement, next: WalkResult, stopped: ReadonlySet<string>): DecideArgs | null {
  const nodes = (keys: readonly string[]): { node_key: string; attempt: number }[] =>
    view.nodes.filter((node) => keys.includes(node.node_key)).map(({ node_key, attempt }) => ({ node_key, attempt }));
  const overtaken =
    view.state !== 'CANCELLED'
      ? []
      : view.nodes.filter((node) => node.state === 'READY' && stopped.has(attemptOf(node))).map((node) => node.node_key);
  const ended = next.ended && !view.ended;
  const same = next.state === view.state && next.frontier.join('\n') === view.frontier.join('\n');
  if (same && !ended && next.ready.length + next.skip.length + overtaken.length === 0) return null;
  return {
    movement_id: view.movement_id,
    version: view.version,
    from: view.state,
    to: next.state,
    ready: nodes(next.ready),
    skip: nodes(next.skip),
    stop: nodes(overtaken),
    frontier: next.frontier,
    ended,
    failure: next.failure,
  };
}

/** The one node that begins because of this decision, where its executor is at hand: its first phases need no activity of their own. */
function beginning(view: LoadedMovement, decision: DecideArgs, idle: (node: LoadedNode) => boolean): PhaseArgs | undefined {
  const after = decided(view, decision, view.version);
  // Ready is not yet running: a gate waits for a person, and after a failure nothing new begins.
  const { run } = nextOf(after);
  const [node, ...others] = after.nodes.filter((each) => run.includes(each.node_key) && idle(each));
  if (node === undefined || others.length > 0 || node.state !== 'READY' || node.recover_first) return undefined;
  if (!runsLocally('preflight', node) || !chains('preflight', node)) return undefined;
  return { movement_id: view.movement_id, node_key: node.node_key, attempt: node.attempt, executor_key: node.executor_key };
}

function nextOf(view: LoadedMovement): WalkResult {
  return walk({ state: view.state, nodes: view.nodes.map(walkNode), edges: withConditions(view.edges, view.conditions ?? {}) });
}

function attemptOf({ node_key, attempt }: Pick<LoadedNode, 'node_key' | 'attempt'>): string {
  return `${node_key}:${String(attempt)}`;
}

/** The view after a decision was written. */
function decided(view: LoadedMovement, decision: DecideArgs, version: number): LoadedMovement {
  const state = (node: LoadedNode): LoadedNode['state'] => {
    const among = (list: DecideArgs['ready']): boolean => list.some((each) => each.node_key === node.node_key);
    if (among(decision.ready)) return 'READY';
    if (among(decision.skip)) return 'SKIPPED';
    return among(decision.stop) ? 'CANCELLED' : node.state;
  };
  return {
    ...view,
    version,
    state: decision.to,
    ended: decision.ended,
    frontier: decision.frontier,
    error_code: decision.failure?.error_code ?? view.error_code,
    nodes: view.nodes.map((node) => ({ ...node, state: state(node) })),
  };
}

/** The view after nodes came to their end; Date.now() is the workflow's own, replayable time. */
function withEnds(view: LoadedMovement, ends: ReadonlyMap<string, NodeEnd>): LoadedMovement {
  const nodes = view.nodes.map((node) => {
    const end = ends.get(node.node_key);
    if (end === undefined || end.state === node.state) return node;
    return { ...node, state: end.state, error_code: end.error_code, settled_order: Date.now() };
  });
  const conditions = [...ends.values()].reduce<ConditionResults>((all, end) => ({ ...all, ...end.conditions }), view.conditions ?? {});
  return { ...view, nodes, conditions };
}
