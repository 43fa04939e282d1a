/** Decides when a team worker's answer is believed: anyone with Temporal access can forge one. */
import type { ExecutorDescriptor } from '../../domain/executor.ts';
import { isObject } from '../../domain/json.ts';
import type { RecordArgs } from '../../domain/messages.ts';
import { sendKey } from '../../domain/send/key.ts';
import { isSignedResult } from '../../executors/result-signature.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';
import { isFollowed } from './followed.ts';
import { onlyLooks } from './settle.ts';

/** Returns the registry entry of the node's executor if it is a team's worker, else null. */
export function teamOf(
  { executors }: PhaseDependencies,
  row: PhaseRow,
): (ExecutorDescriptor & { readonly kind: 'task_queue' }) | null {
  const found = executors.describe(row.node.executor_binding.executor_key);
  return found?.kind === 'task_queue' ? { ...found, kind: 'task_queue' } : null;
}

/**
 * Returns why a FAILED answer is not believed. FAILED ends the node, and a retry pays under another
 * key, so after the start of a submit it must be signed with the executor's own secret. Null for
 * every other answer, and when the chain decides.
 */
export async function whyDoubtful(
  deps: PhaseDependencies,
  { result_secret_file }: ExecutorDescriptor,
  row: PhaseRow,
  { phase, given: outcome }: RecordArgs,
): Promise<string | null> {
  if (phase !== 'submit' && phase !== 'observe' && phase !== 'recover') return null;
  if (
    !('answer' in outcome) ||
    !isObject(outcome.answer) ||
    outcome.answer['next_state'] !== 'FAILED'
  )
    return null;
  if (onlyLooks(row) || isFollowed(deps, row)) return null;
  const call = { idempotency_key: sendKey(row.movement_id, row), phase };
  if (
    result_secret_file !== undefined &&
    (await isSignedResult(result_secret_file, call, outcome.answer))
  )
    return null;
  const { error_code, error_message } = outcome.answer;
  const said = [error_code, error_message].filter((part) => typeof part === 'string').join(': ');
  const why =
    result_secret_file === undefined
      ? 'its registry entry names no result_secret_file'
      : 'it is not signed with the secret of its registry entry';
  return `its executor says FAILED (${said === '' ? 'no reason stated' : said}), which is not believed: ${why}`;
}
