/** Runs one node through its phases. Every phase writes its own outcome; this chooses the next. */
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
   * Grows with every wake, and when the movement no longer needs a person: then fences are retried.
   */
  readonly wakes: () => number;
  /** Called around a submit, during which the run must not continue as new. */
  readonly submitting: (by: 1 | -1) => void;
  /** Whether this phase is left to the next run. */
  readonly holds: (phase: Phase) => boolean;
  /** What its completion leads to, for its activity; `mayContinue`: also with other nodes. */
  readonly course: (node: LoadedNode, mayContinue: boolean) => Course;
  /** Called around an activity that may continue with these nodes: nothing else starts them. */
  readonly carrying: (nodes: readonly PhaseArgs[], by: 1 | -1) => void;
}

/** The node's state when nothing is left to do: settled, UNKNOWN, or stopped at its fence. */
export interface NodeEnd {
  readonly state: LoadedNode['state'];
  readonly error_code: string | null;
  /** FAILED because a stop ended its send. */
  readonly ended_by_stop?: boolean;
  /** The movement starts nothing more in this branch. */
  readonly stopped: boolean;
  /** Results of the conditions on its edges. */
  readonly conditions: ConditionResults;
  /** The decision that was written with its completion. */
  readonly advance?: Advance;
  /** Results of the nodes that its activity continued with. */
  readonly carried?: readonly CarriedResult[];
}

/**
 * Walks one node from its loaded state to its end. `firstResult`: the result of its first phase, if
 * the activity that made it ready ran that phase.
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
  // The whole node in one activity, once; repeats then go phase by phase.
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
        // A submit that keeps failing before its fence must not spin: the pause doubles to half a
        // minute.
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

/** The states that a proof may move an UNKNOWN node to. */
const PROVEN: readonly LoadedNode['state'][] = ['SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED'];

/**
 * Looks at an UNKNOWN node until a proof moves it; sends nothing. Null when it was cancelled, or
 * when a command moved the node, which then wakes the run.
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

/** A submit without an answer is never repeated here: recover finds out what became of it. */
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

/** The next phase of a node that an earlier run left in `state`. */
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
