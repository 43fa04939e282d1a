/** prepare: what exactly will be sent. Stored once; every later send of the attempt uses it byte for byte. */
import { allowedAmount, alreadyBeyond, contextOf, phaseRow, result } from './context.ts';
import { completeNode, failNode, mustWrite } from './outcome.ts';
import { question, type PhaseSteps } from './phase.ts';
import { failIfLate, preSendFault } from './preflight.ts';

export const prepare: PhaseSteps = {
  async begin(deps, args) {
    const row = await phaseRow(deps, args);
    const beyond = alreadyBeyond(row, args);
    if (beyond !== null) return beyond;
    if (row.prepared_action !== null) return result('READY', 'continue');
    const late = await failIfLate(deps, row);
    if (late !== null) return late;
    const amount = allowedAmount(row);
    if (!amount.ok) return failNode(deps, row, amount.code, amount.message, ['FAILED']);
    return question(
      async () => ({ row, context: await contextOf(deps, row, amount.amount) }),
      (fault) => preSendFault(deps, row, fault),
    );
  },
  call: (_deps, executor, { context }, options) => executor.prepare(context, options),
  async finish(deps, _args, row, given) {
    if ('fault' in given) return preSendFault(deps, row, given.fault);
    const answer = given.answer ?? { next_state: 'SUBMITTING' };
    if (answer.next_state === 'FAILED') {
      return failNode(deps, row, answer.error_code ?? 'PREPARE_FAILED', answer.error_message ?? 'the executor could not prepare', [
        'FAILED',
      ]);
    }
    if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, ['COMPLETED']);
    await mustWrite(deps, row, {
      moves: [],
      set: {
        prepared_action: answer.prepared_action ?? {},
        sign_request: answer.sign_request === undefined ? null : { ...answer.sign_request },
        error_count: 0,
      },
      artifacts: answer.artifacts ?? [],
      event: 'node_prepared',
      message: 'Prepared',
    });
    return result('READY', 'continue');
  },
};
