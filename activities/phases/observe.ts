/**
 * observe: has it arrived? A "not yet" is a retryable failure with the executor's own delay, which
 * costs no history.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ExecutionResult, ExecutorFault } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { heldTo } from '../../domain/plan/assurance.ts';
import { firstLegOf } from '../../domain/plan/legs.ts';
import { isLate } from '../../domain/send/node.ts';
import { storable } from '../../domain/text.ts';
import { NOW, type NodeFields } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { lookAgain } from '../failures.ts';
import { assuranceOf, type PhaseDependencies } from './context.ts';
import { askAfterSend, heldToChain } from './followed.ts';
import { journalOf } from './journal.ts';
import { withOwnClaim } from './claims.ts';
import { phaseRow } from './row.ts';
import { elsewhere, result } from './results.ts';
import { unanswered } from './faults.ts';
import {
  ANSWERED,
  completeNode,
  failNode,
  isBeforeObserving,
  isLookedFor,
  movesTo,
  onlyLooks,
  reported,
  unknownNode,
} from './settle.ts';
import { mustWrite } from './write.ts';
import type { Given, PhaseSteps } from './phase.ts';

const DEFAULT_POLL_SECONDS = 2;

export const observe: PhaseSteps = {
  name: 'observe',
  recorded(row, args) {
    if (row.attempt !== args.attempt) return result(row.state, 'stop');
    return isBeforeObserving(row) || row.state === 'OBSERVING'
      ? null
      : elsewhere(row, result('READY', 'stop'));
  },
  async begin(deps, args, left) {
    const row = left ?? (await phaseRow(deps, args));
    const recorded = observe.recorded(row, args);
    if (recorded !== null) return recorded;
    // A node that only looks looks once more: nobody may have asked while there was time.
    if ((isLate(row) && !onlyLooks(row)) || isLookedFor(row)) return result(row.state, 'recover');
    return askAfterSend(deps, row, 'observe', (given) => held(deps, row, given));
  },
  call: (deps, executor, { row, context }, options) =>
    executor.observe(context, options, journalOf(deps, row)),
  finish: (deps, _args, row, given) => held(deps, row, heldToChain(deps, row, given)),
};

const held = (deps: PhaseDependencies, row: PhaseRow, told: Given): Promise<PhaseResult> =>
  withOwnClaim(told, (given) => conclude(deps, row, given));

/** What follows from what the executor said, or the chain where it was not asked. */
async function conclude(
  deps: PhaseDependencies,
  row: PhaseRow,
  given: Given,
): Promise<PhaseResult> {
  if ('fault' in given) {
    if (isOver(row)) return timedOut(deps, row);
    if (given.fault.kind === 'not_yet') return unanswered(deps, row, given.fault);
    return unanswered(deps, row, given.fault, whoIsAsked(deps, row, given.fault));
  }
  const answer = heldTo(assuranceOf(row), given.answer ?? { next_state: 'OBSERVING' });
  if (answer.next_state === 'COMPLETED')
    return completeNode(deps, row, answer, movesTo(row, 'COMPLETED'));
  if (answer.next_state === 'FAILED') {
    const message = answer.error_message ?? 'the venue ended it';
    return failNode(
      deps,
      row,
      answer.error_code ?? 'VENUE_FAILED',
      message,
      movesTo(row, 'FAILED'),
    );
  }
  if (isOver(row)) return timedOut(deps, row);
  await (isBeforeObserving(row)
    ? enterObserving(deps, row, answer)
    : keepProgress(deps, row, answer));
  // Only the fact: what the executor says may name accounts and hashes, which stay out of the
  // history.
  throw lookAgain(
    `${row.node_key} is not there yet`,
    answer.retry_after_seconds ?? DEFAULT_POLL_SECONDS,
  );
}

/**
 * Who is asked when nothing is heard for long. A node that only looks ends by its time; that of a
 * bridge's second leg has none, so a person may say what became of it, and it is asked on.
 */
function whoIsAsked(
  deps: PhaseDependencies,
  row: PhaseRow,
  { message }: ExecutorFault,
): { readonly person?: () => Promise<PhaseResult> } {
  if (!onlyLooks(row)) return { person: async () => result(row.state, 'recover') };
  if (firstLegOf(row.node) === null) return {};
  return { person: () => unknownNode(deps, row, message, movesTo(row, 'UNKNOWN')) };
}

/**
 * The time of a node that only looks had passed before this look began: what it does not find ends
 * it.
 */
function isOver(row: PhaseRow): boolean {
  return onlyLooks(row) && isLate(row);
}

function timedOut(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult> {
  return failNode(
    deps,
    row,
    'NODE_TIMED_OUT',
    'not observed within observe_seconds',
    movesTo(row, 'FAILED'),
  );
}

/**
 * The first "not yet" shows as OBSERVING; an end that the first look finds needs no write in
 * between.
 */
function enterObserving(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<void> {
  return mustWrite(deps, row, {
    moves: ['OBSERVING'],
    set: {
      ...reported(answer),
      ...ANSWERED,
      ...shown(answer),
      error_count: 0,
      ...(row.submitted_ms === null ? { submitted_at: NOW } : {}),
    },
    event: 'node_observing',
    message: 'Observing',
  });
}

/** An executor's interim findings (a reference, a baseline) are what it gets back next time. */
async function keepProgress(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<void> {
  const news =
    (answer.external_ref !== undefined && answer.external_ref !== row.external_ref) ||
    (answer.output !== undefined && !isDeepStrictEqual(answer.output, row.output)) ||
    (answer.error_code ?? null) !== row.error_code ||
    row.error_count > 0 ||
    row.unanswered > 0;
  if (!news) return;
  await applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [
      {
        node_key: row.node_key,
        from: row.state,
        moves: [],
        attempt: row.attempt,
        epoch: row.epoch,
        set: { ...reported(answer), ...ANSWERED, ...shown(answer), error_count: 0 },
      },
    ],
    timeline: [],
  });
}

/** What keeps it from being there, where the executor knows: for people, and decides nothing. */
function shown({ error_code, error_message = 'no reason given' }: ExecutionResult): NodeFields {
  return error_code === undefined
    ? {}
    : { error_code, error_message: storable(error_message, 1_000) };
}
