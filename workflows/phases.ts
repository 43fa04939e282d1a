/**
 * How a node's phase is carried out: inside this task, by our own worker, or by an executor team's.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  proxyActivities,
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
  runsLocally,
  teamOptions,
} from './activity-options.ts';
import { locally, turnIsFree } from './local-activities.ts';

/** Carries out one phase; a failure of submit or a broken worker is thrown. */
export async function perform(
  phase: Phase,
  node: LoadedNode,
  args: RecoverArgs,
): Promise<PhaseResult> {
  if (node.task_queue !== undefined) return byTeam(phase, node, node.task_queue, args);
  const asked = args.whole !== true && chains(phase, node) ? { ...args, chained: true } : args;
  // What asks the outside keeps nothing else waiting for its turn.
  if (runsLocally(phase, node) && turnIsFree()) {
    try {
      return await locally(localPhaseOptions(phase, node.node_key, asked), (local) =>
        local[phase](asked),
      );
    } catch {
      // Too slow, or not yet: the regular form has the time, and shows it.
    }
  }
  const options =
    args.from_unknown === true
      ? lookOptions(node.node_key)
      : phaseOptions(phase, node.node_key, asked);
  return proxyActivities<MovementActivities>(options)[phase](asked);
}

/** Asks the executor of a node in flight to end it. */
export async function askToCancel(node: LoadedNode, args: PhaseArgs): Promise<void> {
  if (node.task_queue !== undefined) await byTeam('cancel', node, node.task_queue, args);
  else
    await proxyActivities<MovementActivities>(phaseOptions('cancel', node.node_key)).cancel(args);
}

async function byTeam(
  phase: AskArgs['phase'],
  node: LoadedNode,
  taskQueue: string,
  args: RecoverArgs,
): Promise<PhaseResult> {
  const asking: AskArgs = { ...args, phase };
  const asked =
    node.signs === true
      ? await proxyActivities<MovementActivities>(askOptions(phase, node.node_key)).ask(asking)
      : await locally(LOCAL_OPTIONS, (local) => local.ask(asking));
  if ('result' in asked) return asked.result;
  const { input, timeout_ms, ...at } = asked.ask;
  const team = proxyActivities<
    Record<AskArgs['phase'], (input: unknown) => Promise<ExecutionResult | null>>
  >(teamOptions(phase, node.node_key, taskQueue, timeout_ms));
  let given: TeamAnswer;
  try {
    given = { answer: await team[phase](input) };
  } catch (error) {
    given = { fault: faultOf(error) };
  }
  return locally(LOCAL_OPTIONS, (local) => local.record({ ...asking, ...at, given }));
}

/** How a call of a team's worker went wrong. Its own words stay in its own failure. */
function faultOf(error: unknown): Extract<TeamAnswer, { fault: unknown }>['fault'] {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    return cause.timeoutType === 'SCHEDULE_TO_START'
      ? { kind: 'not_started', code: 'EXECUTOR_NOT_POLLING' }
      : { kind: 'timeout', code: 'EXECUTOR_TIMEOUT' };
  }
  if (cause instanceof ApplicationFailure && cause.type === REJECTED_FAILURE)
    return { kind: 'rejected', code: 'EXECUTOR_REJECTED' };
  return { kind: 'server_error', code: 'EXECUTOR_UNAVAILABLE' };
}
