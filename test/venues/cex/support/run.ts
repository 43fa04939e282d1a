/** Runs a sending node as the service does: each phase gets what the phases before it reported. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ExecutorFault,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type SubmitInput,
} from '../../../../domain/executor.ts';
import { call, NO_JOURNAL } from './desk.ts';

export interface Ran {
  /** What prepare or submit reported; null: submit left open what became of it. */
  readonly reported: ExecutionResult | null;
  /** For the phases that follow. */
  readonly context: ExecutionContext;
}

/** Prepares and submits once. Throws what is no fault that leaves the outcome open. */
export async function runOnce(executor: Executor, node: ExecutionContext): Promise<Ran> {
  const prepared = await executor.prepare(node, call());
  const input = inputOf(node, prepared);
  if (input === null) return { reported: prepared, context: node };
  const reported = await submitOnce(executor, input);
  const external_ref = reported?.external_ref;
  const { context, prepared_action } = input;
  return {
    reported,
    context:
      external_ref === undefined
        ? context
        : { ...context, prior: { prepared_action, external_ref } },
  };
}

/** Returns the input of {@link submitOnce}. Throws if prepare does not lead to a send. */
export async function prepareOnce(
  executor: Executor,
  node: ExecutionContext,
): Promise<SubmitInput> {
  const prepared = await executor.prepare(node, call());
  const input = inputOf(node, prepared);
  if (input === null) throw new Error(`prepare answered ${JSON.stringify(prepared)}`);
  return input;
}

/** Submits once. Returns null where the outcome is open; throws other faults. */
export const submitOnce = (
  executor: Executor,
  input: SubmitInput,
): Promise<ExecutionResult | null> => executor.submit(input, call()).catch(openFault);

/** What submit gets after this prepare; null: there is nothing to submit. */
function inputOf(node: ExecutionContext, { prepared_action }: ExecutionResult): SubmitInput | null {
  if (prepared_action === undefined) return null;
  const context: ExecutionContext = {
    ...node,
    prior: { prepared_action },
    // As the service: only for an executor that puts its send into a lane.
    ...(typeof prepared_action['send_lane'] === 'string'
      ? { send_lane: { since: new Date().toISOString(), references: [], unexplained: 0 } }
      : {}),
  };
  return { context, prepared_action, journal: NO_JOURNAL };
}

/** A rejected fault must not leave submit: it is to be reported as FAILED. */
function openFault(error: unknown): null {
  if (error instanceof ExecutorFault && error.kind !== 'rejected') return null;
  throw error;
}

const PAUSE_MS = 25;
const MOST_LOOKS = 400;

/** Calls recover until it answers: the exchange may be away, or limit its callers, for a while. */
export async function recovered(
  executor: Executor,
  context: ExecutionContext,
): Promise<ExecutionResult> {
  for (let look = 1; ; look += 1) {
    try {
      return await executor.recover(context, call(), NO_JOURNAL);
    } catch (error) {
      if (!(error instanceof ExecutorFault) || look === MOST_LOOKS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
