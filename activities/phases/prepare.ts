/** prepare: what exactly will be sent. Stored once; every later send of the attempt uses it byte for byte. */
import type { ExecutionResult } from '../../domain/executor.ts';
import { result } from './context.ts';
import { completeNode, failNode, mustWrite, type NodeWrite } from './outcome.ts';
import type { PhaseSteps } from './phase.ts';
import { beforeSend, preSendFault } from './preflight.ts';

const NOTHING_TO_PREPARE: ExecutionResult = { next_state: 'SUBMITTING' };

export const prepare: PhaseSteps = {
  name: 'prepare',
  begin: (deps, args) => beforeSend(deps, args, (row) => (row.prepared_action === null ? null : result('READY', 'continue'))),
  call: (_deps, executor, { context }, options) => executor.prepare(context, options),
  async finish(deps, _args, row, given) {
    if ('fault' in given) return preSendFault(deps, row, given.fault);
    const answer = given.answer ?? NOTHING_TO_PREPARE;
    if (answer.next_state === 'FAILED') {
      return failNode(deps, row, answer.error_code ?? 'PREPARE_FAILED', answer.error_message ?? 'the executor could not prepare', [
        'FAILED',
      ]);
    }
    if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, ['COMPLETED']);
    await mustWrite(deps, row, prepared(answer));
    return result('READY', 'continue');
  },
};

/** What there is to send, before it may be sent. */
export function prepared(answer: ExecutionResult | null): NodeWrite {
  const { prepared_action, sign_request, artifacts } = answer ?? NOTHING_TO_PREPARE;
  return {
    moves: [],
    set: { prepared_action: prepared_action ?? {}, sign_request: sign_request === undefined ? null : { ...sign_request }, error_count: 0 },
    artifacts: artifacts ?? [],
    event: 'node_prepared',
    message: 'Prepared',
  };
}
