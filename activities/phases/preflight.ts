/**
 * preflight: may this node run at all? READY stays READY, or the node fails before anything was
 * sent.
 */
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
    const begun = await beforeSend(deps, args, preflight);
    if ('next' in begun) return begun;
    const refused = await notAllowed(deps, begun.row);
    return refused === null
      ? begun
      : stopBeforeSend(deps, begun.row, refused.code, refused.message);
  },
  call: (_deps, executor, { context }, options) => executor.preflight(context, options),
  async finish(deps, _args, row, given) {
    if ('fault' in given) return preSendFault(deps, row, given.fault);
    const { answer } = given;
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

/**
 * What a passed preflight leaves behind: the amount as it was resolved then, and the start of the
 * node's clock.
 */
export function passed(row: PhaseRow): NodeWrite {
  return {
    moves: [],
    set: {
      preflight_passed: true,
      amount: amountOf(row),
      error_count: 0,
      // What was waited for before the send is no silence of the send.
      unanswered: 0,
      ...(row.started_ms === null ? { started_at: NOW } : {}),
    },
    event: 'node_preflight_passed',
    message: 'Preflight passed',
  };
}
