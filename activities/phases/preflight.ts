/** preflight: checks whether the node may run; the node stays READY or fails before any send. */
import { NOW } from '../../domain/transition.ts';
import { venueWaitOf } from '../../domain/venue-waits.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { notAllowed } from './allowlist.ts';
import { beforeSend, illegalAnswer, preSendFault } from './before-send.ts';
import { amountOf } from './amount.ts';
import { stopBeforeSend } from './settle.ts';
import { mustWrite, type NodeWrite } from './write.ts';
import type { PhaseSteps } from './phase.ts';
import { alreadyBeyond, result } from './results.ts';
import { waitForVenue, waitOver } from './venue-wait.ts';

export const preflight: PhaseSteps = {
  name: 'preflight',
  recorded(row, args) {
    const beyond = alreadyBeyond(row, args);
    if (beyond !== null) return beyond;
    if (row.recover_first) return result('READY', 'recover');
    // A node that waits for its venue is checked again, also if preflight passed before prepare
    // made it wait.
    const isChecked = row.preflight_passed && row.wait_overdue_ms === null;
    return isChecked ? result('READY', 'continue') : null;
  },
  async begin(deps, args, left) {
    const question = await beforeSend(deps, args, preflight, left);
    if ('next' in question) return question;
    const refused = await notAllowed(deps, question.row);
    return refused === null ? question : preSendFault(deps, question.row, refused);
  },
  call: (_deps, executor, { context }, options) => executor.preflight(context, options),
  async finish(deps, _args, row, outcome) {
    if ('fault' in outcome) return preSendFault(deps, row, outcome.fault);
    const { answer } = outcome;
    if (answer === null) {
      // If prepare made the node wait, only prepare's next answer ends the wait.
      if (!row.preflight_passed) await mustWrite(deps, row, passed(row));
      return result('READY', 'continue');
    }
    const wait = venueWaitOf(answer);
    if (wait !== null) {
      const set = row.preflight_passed ? { preflight_passed: false } : {};
      return waitForVenue(deps, row, wait, set);
    }
    if (answer.next_state !== 'FAILED') return illegalAnswer(deps, row, 'preflight', answer);
    return stopBeforeSend(
      deps,
      row,
      answer.error_code ?? 'PREFLIGHT_FAILED',
      answer.error_message ?? 'the executor refused',
    );
  },
};

/** Returns the write of a passed preflight: the present amount, and the node's start time. */
export function passed(row: PhaseRow): NodeWrite {
  return {
    moves: [],
    set: {
      preflight_passed: true,
      amount: amountOf(row),
      error_count: 0,
      // Clears the missing answers before the send; they must not count as missing answers about
      // the send.
      unanswered: 0,
      ...waitOver(row),
      ...(row.started_ms === null ? { started_at: NOW } : {}),
    },
    event: 'node_preflight_passed',
    message: 'Preflight passed',
  };
}
