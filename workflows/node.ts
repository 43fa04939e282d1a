/**
 * Runs one node through its phases. Every phase writes its own outcome; this file chooses the next
 * phase.
 */
import { condition, isCancellation, sleep } from '@temporalio/workflow';
import type {
  Advance,
  CarriedResult,
  ConditionResults,
  LoadedNode,
  Phase,
  PhaseArgs,
  PhaseResult,
  RecoverArgs,
} from '../domain/messages.ts';
import { isSettled } from '../domain/states/node.ts';
import { perform } from './phases.ts';
import type { Course } from './course.ts';

export interface NodeRun {
  readonly movementId: string;
  /**
   * Count of wakes (signals to look again); it also grows when the movement no longer needs a
   * person. When the count grows, nodes that wait at their fence (the last check before a send) try
   * again.
   */
  readonly wakes: () => number;
  /** Called with 1 before and -1 after a submit; in between, the run must not continue as new. */
  readonly submitting: (by: 1 | -1) => void;
  /** Returns whether this phase must wait for the next workflow run. */
  readonly holds: (phase: Phase) => boolean;
  /**
   * Returns what the node's completion leads to, as arguments for the node's activity.
   * `mayContinue`: the activity may also continue with other nodes.
   */
  readonly course: (node: LoadedNode, mayContinue: boolean) => Course;
  /**
   * Called with 1 before and -1 after an activity that may continue with these nodes; in between,
   * nothing else starts them.
   */
  readonly carrying: (nodes: readonly PhaseArgs[], by: 1 | -1) => void;
}

/** The node's state when no phase is left to run: settled, UNKNOWN, or stopped at its fence. */
export interface NodeEnd {
  readonly state: LoadedNode['state'];
  readonly error_code: string | null;
  /** True: the node is FAILED because a stop (domain/send/stops.ts) ended its send. */
  readonly ended_by_stop?: boolean;
  /** True: the movement starts nothing more in this branch. */
  readonly stopped: boolean;
  /** Results of the conditions on the node's outgoing edges. */
  readonly conditions: ConditionResults;
  /** The decision that was written together with the node's completion. */
  readonly advance?: Advance;
  /** Results of the nodes with which its activity continued. */
  readonly carried?: readonly CarriedResult[];
}

/**
 * Runs one node from its loaded state to its end. `firstResult`: the result of its first phase, if
 * the activity that made the node ready also ran that phase.
 */
export async function runNode(
  node: LoadedNode,
  run: NodeRun,
  firstResult?: PhaseResult,
): Promise<NodeEnd> {
  const args: PhaseArgs = {
    movement_id: run.movementId,
    node_key: node.node_key,
    attempt: node.attempt,
    executor_key: node.executor_key,
  };
  let step: Phase = firstPhase(node);
  // The first try runs the whole node in one activity; repeats then run phase by phase.
  let whole = node.chained === true && step === 'preflight' && firstResult === undefined;
  if (whole && node.node_kind !== 'observe') step = 'submit';
  let asksFromObserve = false;
  let sends = 0;
  let known = firstResult;
  for (;;) {
    const at = step;
    if (run.holds(at)) await condition(() => !run.holds(at));
    const wakes = run.wakes();
    const course =
      whole || at === 'submit' || at === 'observe'
        ? run.course(node, whole && at === 'submit')
        : {};
    const asking: RecoverArgs = {
      ...args,
      ...course,
      ...(whole ? { whole } : {}),
      ...(at === 'recover' && asksFromObserve ? { from_observe: true } : {}),
    };
    const result: PhaseResult =
      known ??
      (at === 'submit'
        ? await submit(() => perform(at, node, asking), run, asking.onward ?? [])
        : await perform(at, node, asking));
    whole = false;
    known = undefined;
    step = result.phase ?? step;
    switch (result.next) {
      case 'continue':
        step = afterPhase(step, node);
        break;
      case 'observe':
        step = 'observe';
        break;
      case 'submit':
        // A submit that keeps failing before its fence (the last check before a send) must not
        // repeat without pause: the pause doubles up to half a minute.
        await sleep(Math.max(result.delay_ms ?? 0, Math.min(30_000, 100 * 2 ** sends)), {
          summary: `${node.node_key}: before it is sent again`,
        });
        sends += 1;
        step = 'submit';
        break;
      case 'recover':
        asksFromObserve = step === 'observe';
        step = 'recover';
        break;
      case 'again':
        await sleep(result.delay_ms ?? 1_000, { summary: `${node.node_key}: before ${step}` });
        break;
      case 'wait':
        await condition(() => run.wakes() !== wakes);
        break;
      case 'stop':
      case 'settled':
        return {
          state: result.state,
          error_code: result.error_code,
          ended_by_stop: result.ended_by_stop === true,
          stopped: !isSettled(result.state) && result.state !== 'UNKNOWN',
          conditions: result.conditions ?? {},
          ...(result.advance === undefined ? {} : { advance: result.advance }),
          ...(result.carried === undefined ? {} : { carried: result.carried }),
        };
    }
  }
}

/** The states to which a proof may move an UNKNOWN node. */
const PROVEN: readonly LoadedNode['state'][] = ['SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED'];

/**
 * Checks the outcome of an UNKNOWN node until a proof changes its state; sends nothing. Null if the
 * check was cancelled, or if a command changed the state, which wakes the run.
 */
export async function askAboutUnknown(
  node: LoadedNode,
  movementId: string,
  holds: NodeRun['holds'],
): Promise<NodeEnd | null> {
  const { node_key, attempt, executor_key } = node;
  try {
    for (;;) {
      if (holds('recover')) await condition(() => !holds('recover'));
      const said = await perform('recover', node, {
        movement_id: movementId,
        node_key,
        attempt,
        executor_key,
        from_unknown: true,
      });
      if (said.next === 'again')
        await sleep(said.delay_ms ?? 60_000, { summary: `${node_key}: before the next look` });
      else if (!PROVEN.includes(said.state)) return null;
      else
        return {
          state: said.state,
          error_code: said.error_code,
          ended_by_stop: said.ended_by_stop === true,
          stopped: false,
          conditions: said.conditions ?? {},
        };
    }
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  }
}

/**
 * Runs a submit once. A submit without an answer is never repeated here: recover finds the outcome.
 */
async function submit(
  work: () => Promise<PhaseResult>,
  run: NodeRun,
  onward: readonly PhaseArgs[],
): Promise<PhaseResult> {
  run.submitting(1);
  run.carrying(onward, 1);
  try {
    return await work();
  } catch {
    return { state: 'SUBMITTING', next: 'recover', error_code: null };
  } finally {
    run.submitting(-1);
    run.carrying(onward, -1);
  }
}

/** Returns the next phase of a node that an earlier run left in its present state. */
function firstPhase(node: LoadedNode): Phase {
  if (node.state === 'SUBMITTING' || (node.state === 'READY' && node.recover_first))
    return 'recover';
  return node.state === 'READY' ? 'preflight' : 'observe';
}

function afterPhase(phase: Phase, node: LoadedNode): Phase {
  if (phase === 'preflight') return node.node_kind === 'observe' ? 'observe' : 'prepare';
  if (phase === 'prepare') return 'submit';
  return 'observe';
}
