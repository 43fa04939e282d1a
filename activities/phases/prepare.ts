/** prepare: what exactly will be sent. Stored once; every later send of the attempt uses it byte for byte. */
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { callOptions } from './call.ts';
import { alreadyBeyond, amountOf, contextOf, executorOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { completeNode, failNode, mustWrite } from './outcome.ts';
import { failIfLate, preSendFault } from './preflight.ts';

export async function prepare(deps: PhaseDependencies, args: PhaseArgs): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const beyond = alreadyBeyond(row, args);
  if (beyond !== null) return beyond;
  if (row.prepared_action !== null) return result('READY', 'continue');
  const late = await failIfLate(deps, row);
  if (late !== null) return late;
  const amount = amountOf(row);
  if (amount === null) return failNode(deps, row, 'AMOUNT_UNRESOLVED', 'the amount refers to an output that holds none', ['FAILED']);
  let answer;
  try {
    answer = await executorOf(deps, row).prepare(await contextOf(deps, row, amount), callOptions());
  } catch (error) {
    return preSendFault(deps, row, error);
  }
  if (answer.next_state === 'FAILED') {
    return failNode(deps, row, answer.error_code ?? 'PREPARE_FAILED', answer.error_message ?? 'the executor could not prepare', ['FAILED']);
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
}
