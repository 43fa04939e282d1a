/** preflight: checks whether the node may run; the node stays READY or fails before any send. */
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { notAllowed } from './allowlist.ts';
import { beforeSend, preSendFault } from './before-send.ts';
import { amountOf } from './amount.ts';
import { stopBeforeSend } from './settle.ts';
import { mustWrite, type NodeWrite } from './write.ts';
import type { PhaseSteps } from './phase.ts';
import { alreadyBeyond, result } from './results.ts';

export const preflight: PhaseSteps = {
  name: 'preflight',
  recorded(row, args) {
    const beyond = alreadyBeyond(row, args);
    if (beyond !== null) return beyond;
    if (row.recover_first) return result('READY', 'recover');
    return row.preflight_passed ? result('READY', 'continue') : null;
  },
  async begin(deps, args) {
    const question = await beforeSend(deps, args, preflight);
    if ('next' in question) return question;
    const refused = await notAllowed(deps, question.row);
    return refused === null
      ? question
      : stopBeforeSend(deps, question.row, refused.code, refused.message);
  },
  call: (_deps, executor, { context }, options) => executor.preflight(context, options),
  async finish(deps, _args, row, outcome) {
    if ('fault' in outcome) return preSendFault(deps, row, outcome.fault);
    const { answer } = outcome;
    if (answer !== null) {
      return stopBeforeSend(
        deps,
        row,
        answer.error_code ?? 'PREFLIGHT_FAILED',
        answer.error_message ?? 'the executor refused',
      );
    }
    await mustWrite(deps, row, passed(row));
    return result('READY', 'continue');
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
      ...(row.started_ms === null ? { started_at: NOW } : {}),
    },
    event: 'node_preflight_passed',
    message: 'Preflight passed',
  };
}
