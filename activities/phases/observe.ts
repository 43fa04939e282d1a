/**
 * observe: looks whether the payment has arrived. "Not yet" is a retryable failure with the
 * executor's own delay; such retries add nothing to Temporal's history.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ExecutionResult, ExecutorFault } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import { heldTo } from '../../domain/plan/assurance.ts';
import { firstLegOf } from '../../domain/plan/legs.ts';
import { isLate } from '../../domain/send/node.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { lookAgain } from '../failures.ts';
import { assuranceOf, type PhaseDependencies } from './context.ts';
import { askAfterSend, heldToChain } from './followed.ts';
import { journalOf } from './journal.ts';
import { withOwnClaim } from './claims.ts';
import { phaseRow } from './row.ts';
import { withinHistory } from './recover.ts';
import { resultFor, result } from './results.ts';
import { unanswered } from './faults.ts';
import {
  afterSilence,
  completeNode,
  failNode,
  isBeforeObserving,
  isLookedFor,
  movesTo,
  onlyLooks,
  reported,
  shown,
  unknownByAnswer,
  unknownBySilence,
} from './settle.ts';
import { mustWrite } from './write.ts';
import type { CallOutcome, PhaseSteps } from './phase.ts';

const DEFAULT_POLL_SECONDS = 2;

export const observe: PhaseSteps = {
  name: 'observe',
  recorded(row, args) {
    if (row.attempt !== args.attempt) return result(row.state, 'stop');
    return isBeforeObserving(row) || row.state === 'OBSERVING'
      ? null
      : resultFor(row, result('READY', 'stop'));
  },
  async begin(deps, args, left) {
    const row = left ?? (await phaseRow(deps, args));
    const recorded = observe.recorded(row, args);
    if (recorded !== null) return recorded;
    // A late node that only looks gets one more look, since it may have had none before its
    // deadline.
    if ((isLate(row) && !onlyLooks(row)) || isLookedFor(row)) return result(row.state, 'recover');
    return askAfterSend(deps, row, 'observe', (outcome) => held(deps, row, outcome));
  },
  call: (deps, executor, { row, context }, options) =>
    executor.observe(context, options, journalOf(deps, row)),
  finish: (deps, _args, row, outcome) => held(deps, row, heldToChain(deps, row, outcome)),
};

const held = (deps: PhaseDependencies, row: PhaseRow, outcome: CallOutcome): Promise<PhaseResult> =>
  withOwnClaim(outcome, (checked) => conclude(deps, row, checked));

/** Applies the outcome of the look. The outcome is the chain's when the executor was not called. */
async function conclude(
  deps: PhaseDependencies,
  row: PhaseRow,
  outcome: CallOutcome,
): Promise<PhaseResult> {
  if ('fault' in outcome) {
    if (isOver(row)) return timedOut(deps, row);
    const { fault } = outcome;
    const shows = afterSilence(row, fault);
    if (fault.kind === 'not_yet') return unanswered(deps, row, shows);
    return unanswered(deps, row, shows, escalation(deps, row, fault));
  }
  const answer = heldTo(assuranceOf(row), outcome.answer ?? { next_state: 'OBSERVING' });
  if (answer.next_state === 'COMPLETED')
    return completeNode(deps, row, answer, movesTo(row, 'COMPLETED'));
  // Only a retry can continue. With a "not yet", the node and every later nonce of its account
  // would wait, and no person would know.
  if (answer.next_state === 'UNKNOWN') {
    const kept = withinHistory(row, outcome);
    if ('fault' in kept) return unknownBySilence(deps, row, kept.fault);
    const { error_message = 'only a retry may send again' } = answer;
    return unknownByAnswer(deps, row, { ...answer, error_message }, movesTo(row, 'UNKNOWN'));
  }
  if (answer.next_state === 'FAILED') {
    const message = answer.error_message ?? 'the venue ended it';
    return failNode(
      deps,
      row,
      answer.error_code ?? 'VENUE_FAILED',
      message,
      movesTo(row, 'FAILED'),
      answer,
    );
  }
  if (isOver(row)) return timedOut(deps, row);
  await (isBeforeObserving(row)
    ? enterObserving(deps, row, answer)
    : keepProgress(deps, row, answer));
  // The failure gives no reason: the executor's message may hold accounts and hashes, which must
  // not be in Temporal's history.
  throw lookAgain(
    `${row.node_key} is not there yet`,
    answer.retry_after_seconds ?? DEFAULT_POLL_SECONDS,
  );
}

/**
 * Returns who decides after a long time without an answer. A send goes to recovery. A node that
 * only looks ends at its deadline. The second leg of a bridge has no deadline, so a person may
 * decide while the looks go on.
 */
function escalation(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
): { readonly person?: () => Promise<PhaseResult> } {
  if (!onlyLooks(row)) return { person: async () => result(row.state, 'recover') };
  if (firstLegOf(row.node) === null) return {};
  return { person: () => unknownBySilence(deps, row, fault) };
}

/**
 * Returns whether a node that only looks was past its deadline before this look; if the look finds
 * nothing, the node ends.
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
 * Moves the node to OBSERVING at the first "not yet". A node whose first look already finds the end
 * skips that state.
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
      ...shown(row, answer),
      error_count: 0,
      ...(row.submitted_ms === null ? { submitted_at: NOW } : {}),
    },
    event: 'node_observing',
    message: 'Observing',
  });
}

/** Stores an executor's interim findings (a reference, a baseline), which its next call gets. */
async function keepProgress(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<void> {
  const news =
    (answer.external_ref !== undefined && answer.external_ref !== row.external_ref) ||
    (answer.output !== undefined && !isDeepStrictEqual(answer.output, row.output)) ||
    shown(row, answer).error_code !== row.error_code ||
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
        set: {
          ...reported(answer),
          ...shown(row, answer),
          error_count: 0,
        },
      },
    ],
    timeline: [],
  });
}
