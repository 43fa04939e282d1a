/**
 * prepare: what exactly will be sent. Stored once; every later send of the attempt uses it byte for
 * byte.
 */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import { alreadyBeyond, result, sendPrepared } from './results.ts';
import { stopBeforeSend } from './settle.ts';
import { mustWrite, type NodeWrite } from './write.ts';
import type { PhaseSteps } from './phase.ts';
import { beforeSend, preSendFault } from './before-send.ts';

const NOTHING_TO_PREPARE: ExecutionResult = { next_state: 'SUBMITTING' };

export const prepare: PhaseSteps = {
  name: 'prepare',
  recorded: (row, args) =>
    alreadyBeyond(row, args) ?? (row.prepared_action === null ? null : sendPrepared(row)),
  begin: (deps, args) => beforeSend(deps, args, prepare),
  call: (_deps, executor, { context }, options) => executor.prepare(context, options),
  async finish(deps, _args, row, given) {
    if ('fault' in given) return preSendFault(deps, row, given.fault);
    const answer = given.answer ?? NOTHING_TO_PREPARE;
    if (answer.next_state === 'FAILED') {
      return stopBeforeSend(
        deps,
        row,
        answer.error_code ?? 'PREPARE_FAILED',
        answer.error_message ?? 'the executor could not prepare',
      );
    }
    // Anything but "it can be sent" would step past the fence and its checks.
    if (answer.next_state !== 'SUBMITTING') {
      const said = `prepare must not answer next_state ${answer.next_state}`;
      return preSendFault(
        deps,
        row,
        new ExecutorFault('protocol', 'EXECUTOR_PROTOCOL_ERROR', said),
      );
    }
    await mustWrite(deps, row, prepared(answer));
    return result('READY', 'continue');
  },
};

/** What there is to send, before it may be sent. */
export function prepared(answer: ExecutionResult | null): NodeWrite {
  const { prepared_action, sign_request, artifacts } = answer ?? NOTHING_TO_PREPARE;
  return {
    moves: [],
    set: {
      prepared_action: prepared_action ?? {},
      sign_request: sign_request === undefined ? null : { ...sign_request },
      error_count: 0,
      // What was waited for before the send is no silence of the send.
      unanswered: 0,
    },
    artifacts: artifacts ?? [],
    event: 'node_prepared',
    message: 'Prepared',
  };
}
