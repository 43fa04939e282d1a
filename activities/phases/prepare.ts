/** prepare: stores once what will be sent; every send of the attempt uses exactly these bytes. */
import type { ExecutionResult } from '../../domain/executor.ts';
import { venueWaitOf } from '../../domain/venue-waits.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { alreadyBeyond, result, sendPrepared } from './results.ts';
import { stopBeforeSend } from './settle.ts';
import { mustWrite, type NodeWrite } from './write.ts';
import type { PhaseSteps } from './phase.ts';
import { beforeSend, illegalAnswer, preSendFault } from './before-send.ts';
import { waitForVenue, waitOver } from './venue-wait.ts';

const NOTHING_TO_PREPARE: ExecutionResult = { next_state: 'SUBMITTING' };

export const prepare: PhaseSteps = {
  name: 'prepare',
  recorded: (row, args) =>
    alreadyBeyond(row, args) ?? (row.prepared_action === null ? null : sendPrepared(row)),
  begin: (deps, args) => beforeSend(deps, args, prepare),
  call: (_deps, executor, { context }, options) => executor.prepare(context, options),
  async finish(deps, _args, row, outcome) {
    if ('fault' in outcome) return preSendFault(deps, row, outcome.fault);
    const answer = outcome.answer ?? NOTHING_TO_PREPARE;
    if (answer.next_state === 'FAILED') {
      return stopBeforeSend(
        deps,
        row,
        answer.error_code ?? 'PREPARE_FAILED',
        answer.error_message ?? 'the executor could not prepare',
      );
    }
    const wait = venueWaitOf(answer);
    if (wait !== null) return waitForVenue(deps, row, wait);
    if (answer.next_state !== 'SUBMITTING') return illegalAnswer(deps, row, 'prepare', answer);
    await mustWrite(deps, row, prepared(row, answer));
    return result('READY', 'continue');
  },
};

/** Returns the write that stores what will be sent. */
export function prepared(row: PhaseRow, answer: ExecutionResult | null): NodeWrite {
  const { prepared_action, sign_request, artifacts } = answer ?? NOTHING_TO_PREPARE;
  return {
    moves: [],
    set: {
      prepared_action: prepared_action ?? {},
      sign_request: sign_request === undefined ? null : { ...sign_request },
      error_count: 0,
      // Clears the missing answers before the send; they must not count as missing answers about
      // the send.
      unanswered: 0,
      ...waitOver(row),
    },
    artifacts: artifacts ?? [],
    event: 'node_prepared',
    message: 'Prepared',
  };
}
