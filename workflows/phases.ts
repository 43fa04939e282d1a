/**
 * Runs a phase of a node: inside this workflow task, in the service's worker, or in an executor
 * team's worker.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  proxyActivities,
  type ActivityOptions,
} from '@temporalio/workflow';
import { REJECTED_FAILURE, type ExecutionResult } from '../domain/executor.ts';
import type {
  AskArgs,
  LoadedNode,
  MovementActivities,
  Phase,
  PhaseArgs,
  PhaseResult,
  RecoverArgs,
  TeamAnswer,
} from '../domain/messages.ts';
import {
  askOptions,
  chains,
  LOCAL_OPTIONS,
  localPhaseOptions,
  lookOptions,
  phaseOptions,
  queuedOptions,
  runsLocally,
  teamOptions,
} from './activity-options.ts';
import { locally, turnIsFree } from './local-activities.ts';

/** Runs one phase. Throws if a submit or a worker fails. */
export async function perform(
  phase: Phase,
  node: LoadedNode,
  args: RecoverArgs,
): Promise<PhaseResult> {
  if (node.task_queue !== undefined) return byTeam(phase, node, node.task_queue, args);
  const input = args.whole !== true && chains(phase, node) ? { ...args, chained: true } : args;
  // Only if no other local call is open: an executor call must not wait for, or delay, other local
  // calls.
  if (runsLocally(phase, node) && turnIsFree()) {
    try {
      return await locally(localPhaseOptions(phase, node.node_key, input), (local) =>
        local[phase](input),
      );
    } catch {
      // The local try failed or took too long. The regular activity has more time, and is visible
      // in the history.
    }
  }
  const options =
    args.from_unknown === true
      ? lookOptions(node.node_key)
      : phaseOptions(phase, node.node_key, input);
  return onItsQueue(node, input, options, (activities) => activities[phase](input));
}

/** Requests that the executor cancel a node in flight. */
export async function askToCancel(node: LoadedNode, args: PhaseArgs): Promise<void> {
  if (node.task_queue !== undefined) await byTeam('cancel', node, node.task_queue, args);
  else
    await onItsQueue(node, args, phaseOptions('cancel', node.node_key), (activities) =>
      activities.cancel(args),
    );
}

/** Queues of venues that no longer had a queue of their own when this run last looked. */
const closedQueues = new Set<string>();

type Call<R> = (activities: MovementActivities) => Promise<R>;

/** Makes the call on the queue of the node's venue, or on the workers' own. */
function onItsQueue<R>(
  { node_key, venue_queue }: LoadedNode,
  { movement_id }: PhaseArgs,
  options: ActivityOptions,
  call: Call<R>,
): Promise<R> {
  // Not async: one more promise before the next command would contradict older histories.
  if (venue_queue === undefined) return call(proxyActivities<MovementActivities>(options));
  const findQueue: Call<string | null> = (local) => local.queueOf({ movement_id, node_key });
  return onQueueOfVenue(venue_queue, findQueue, options, call);
}

/**
 * Makes the call on a venue's queue. A call that no worker takes has not started: then a worker
 * says whether the venue still has its queue, and without it the call goes to the workers' own.
 */
async function onQueueOfVenue<R>(
  queue: string,
  findQueue: Call<string | null>,
  options: ActivityOptions,
  call: Call<R>,
): Promise<R> {
  while (!closedQueues.has(queue)) {
    try {
      return await call(proxyActivities<MovementActivities>(queuedOptions(options, queue)));
    } catch (error) {
      if (!hasNotStarted(error)) throw error;
    }
    // A cancelled look must not leave a local call behind: the next call would overlap with it.
    const current = await CancellationScope.nonCancellable(() => locally(LOCAL_OPTIONS, findQueue));
    if (current !== queue) closedQueues.add(queue);
  }
  return call(proxyActivities<MovementActivities>(options));
}

function hasNotStarted(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
}

async function byTeam(
  phase: AskArgs['phase'],
  node: LoadedNode,
  taskQueue: string,
  args: RecoverArgs,
): Promise<PhaseResult> {
  const asking: AskArgs = { ...args, phase };
  const answer =
    node.signs === true
      ? await proxyActivities<MovementActivities>(askOptions(phase, node.node_key)).ask(asking)
      : await locally(LOCAL_OPTIONS, (local) => local.ask(asking));
  if ('result' in answer) return answer.result;
  const { input, timeout_ms, ...at } = answer.ask;
  const team = proxyActivities<
    Record<AskArgs['phase'], (input: unknown) => Promise<ExecutionResult | null>>
  >(teamOptions(phase, node.node_key, taskQueue, timeout_ms));
  let outcome: TeamAnswer;
  try {
    outcome = { answer: await team[phase](input) };
  } catch (error) {
    outcome = { fault: faultOf(error) };
  }
  return locally(LOCAL_OPTIONS, (local) => local.record({ ...asking, ...at, given: outcome }));
}

/** Returns how a call to a team's worker failed. The worker's message stays in its own failure. */
function faultOf(error: unknown): Extract<TeamAnswer, { fault: unknown }>['fault'] {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    return hasNotStarted(cause)
      ? { kind: 'not_started', code: 'EXECUTOR_NOT_POLLING' }
      : { kind: 'timeout', code: 'EXECUTOR_TIMEOUT' };
  }
  if (cause instanceof ApplicationFailure && cause.type === REJECTED_FAILURE)
    return { kind: 'rejected', code: 'EXECUTOR_REJECTED' };
  return { kind: 'server_error', code: 'EXECUTOR_UNAVAILABLE' };
}
