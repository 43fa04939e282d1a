/**
 * recover: finds out the outcome of a send that got no answer. It first raises the epoch, so that
 * the worker that sent can write nothing more. It believes "nothing landed" only once no send can
 * still be under way.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ApplicationFailure } from '@temporalio/common';
import { isMintedAlready } from '../../domain/allowlist/destinations.ts';
import { SEND_UNDER_WAY } from '../../domain/attention-reasons.ts';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import type { PhaseResult, RecoverArgs } from '../../domain/messages.ts';
import { heldTo } from '../../domain/plan/assurance.ts';
import { HISTORY_TOO_OLD, saysAtVenue, VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import { sendKey } from '../../domain/send/key.ts';
import { afterNodeNotFound, isAccepted, isLate, unlanded } from '../../domain/send/node.ts';
import type { AfterNotFound } from '../../domain/send/not-found.ts';
import { storable } from '../../domain/text.ts';
import { NOW } from '../../domain/transition.ts';
import { noteNextLook, takeOver, type PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { byBothClocks } from '../both-clocks.ts';
import { lookAgain, maxAttempts, unhurriedSeconds } from '../failures.ts';
import { descriptorOf } from './bound-executor.ts';
import { assuranceOf, type PhaseDependencies } from './context.ts';
import { askAfterSend, heldToChain, isFollowed } from './followed.ts';
import { journalOf } from './journal.ts';
import { withOwnClaim } from './claims.ts';
import { phaseRow } from './row.ts';
import { resultFor, result, sendAgain } from './results.ts';
import { noteUnanswered, unanswered } from './faults.ts';
import {
  afterSilence,
  ANSWERED,
  completeNode,
  doubtCode,
  doubtText,
  failNode,
  INCONCLUSIVE,
  isLookedFor,
  isShownAtOnce,
  movesTo,
  reported,
  sentAmount,
  shown,
  unknownAs,
  unknownByAnswer,
  unknownBySilence,
  unknownNode,
} from './settle.ts';
import { mustWrite } from './write.ts';
import type { CallOutcome, PhaseSteps, Question } from './phase.ts';

const FORGOTTEN =
  'the database was restored and may have lost a later attempt; the executor shows no send of this attempt, and cannot be called about lost attempts';
const UNPROVEN =
  'the executor says that nothing landed, but only a FAILED that it signs in recover proves this; nothing is sent again';
const NOT_FOUND =
  'no send is found; a retry looks once more, and may send again under the same idempotency key';
const MINT_GONE =
  'another account had minted the burn, and the chain no longer shows that mint; a retry mints it';
const UNDER_WAY = 'the send is under way, but its end was not observed in time';

export const recover: PhaseSteps = {
  name: 'recover',
  recorded(row, args) {
    if (row.attempt !== args.attempt) return result(row.state, 'stop');
    if (args.from_unknown === true)
      return row.state === 'UNKNOWN' ? null : resultFor(row, sendAgain(row));
    const isOpen =
      row.state === 'SUBMITTING' ||
      (row.state === 'READY' && row.recover_first) ||
      (args.from_observe === true && isAccepted(row.state));
    return isOpen ? null : resultFor(row, sendAgain(row));
  },
  async begin(deps, args) {
    if (args.from_unknown === true) return questionAboutUnknown(deps, args);
    const { taken, row } = await takeOver(deps.db, args);
    if (row === null) throw new Error(`movement ${args.movement_id} has no node ${args.node_key}`);
    if (!taken) return recover.recorded(row, args) ?? resultFor(row, sendAgain(row));
    const observes = args.from_observe !== true && !isLate(row);
    const next = (outcome: CallOutcome) => held(deps, args, row, outcome);
    return askAfterSend(deps, row, 'recover', next, { observes });
  },
  async call(deps, executor, { row, context }, options) {
    const answer = await executor.recover(context, options, journalOf(deps, row));
    return answer?.next_state === 'READY' && attemptsMayBeLost(row)
      ? lostAttempts(deps, executor, { row, context }, options, answer)
      : answer;
  },
  finish: (deps, args, row, outcome) => held(deps, args, row, heldToChain(deps, row, outcome)),
};

function held(
  deps: PhaseDependencies,
  args: RecoverArgs,
  row: PhaseRow,
  outcome: CallOutcome,
): Promise<PhaseResult> {
  return withOwnClaim(withinHistory(row, outcome), (outcome) =>
    args.from_unknown === true
      ? stillUnknown(deps, row, outcome)
      : conclude(deps, args, row, outcome),
  );
}

/**
 * Returns the outcome of the look. That the venue's history is over by now is silence where an
 * earlier look has shown what the venue has: a person could call that failed, and pay again.
 */
export function withinHistory(row: PhaseRow, outcome: CallOutcome): CallOutcome {
  if ('fault' in outcome || outcome.answer === null || !saysAtVenue(row.error_code)) return outcome;
  const { answer } = outcome;
  return answer.next_state === 'UNKNOWN' && answer.error_code === HISTORY_TOO_OLD
    ? { fault: doubtOf(answer) }
    : outcome;
}

/** Applies the outcome of the look. The outcome is the chain's when the executor was not called. */
async function conclude(
  deps: PhaseDependencies,
  args: RecoverArgs,
  row: PhaseRow,
  checked: CallOutcome,
): Promise<PhaseResult> {
  if ('fault' in checked) {
    const { fault } = checked;
    // A stop holds the send back for now; this does not count as a missing answer.
    const shows = afterSilence(row, fault);
    if (fault.code === VENUE_ENTRY_CHANGED)
      // Unlike other waits this one may never end, so a person decides about it as about silence.
      return unanswered(deps, row, shows, { person: () => unseen(deps, row, shows) });
    if (fault.kind === 'not_yet') return unanswered(deps, row, shows);
    return unanswered(deps, row, shows, {
      impatient: isLate(row),
      person: () => unknownBySilence(deps, row, fault),
    });
  }
  const answer = heldTo(assuranceOf(row), checked.answer ?? { next_state: 'UNKNOWN' });
  switch (answer.next_state) {
    case 'COMPLETED':
      return completeNode(deps, row, answer, movesTo(row, 'COMPLETED'), 'node_recovered');
    case 'FAILED':
      return failNode(
        deps,
        row,
        failureCode(row, answer),
        answer.error_message ?? 'the venue ended it',
        movesTo(row, 'FAILED'),
        answer,
      );
    case 'READY':
      return handedOverInVain(deps, row, answer)
        ? failNode(
            deps,
            row,
            answer.error_code ?? 'SUBMIT_NOT_LANDED',
            answer.error_message ?? 'nothing landed',
            movesTo(row, 'FAILED'),
          )
        : notLanded(deps, row);
    case 'UNKNOWN':
      return inconclusive(deps, row, answer);
    case 'SUBMITTING':
    case 'SUBMITTED':
    case 'OBSERVING':
      return args.from_observe === true && isOverdue(row) && !isLookedFor(row)
        ? unknownAs(deps, row, { ...answer, ...underWay(answer) }, movesTo(row, 'UNKNOWN'))
        : landed(deps, row, answer);
  }
}

/**
 * Returns whether this attempt must end instead of being sent again. The chain proves that its
 * payment can never be mined, but the executor may have received the attempt's idempotency key, and
 * takes each key only once, so only a new attempt can pay.
 */
function handedOverInVain(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): boolean {
  return (
    answer.error_code === 'NONCE_USED_ELSEWHERE' &&
    isFollowed(deps, row) &&
    !descriptorOf(deps, row).same_key_safe
  );
}

/**
 * Maximum number of lost attempts that are looked for after a restore; a person requested each of
 * them by a retry.
 */
const LOST_ATTEMPTS = 10;

/**
 * Returns whether a restore may have lost later attempts of which the executor knows only the
 * idempotency keys: also of a node that was being sent in the backup, since that attempt may have
 * failed and been retried. With a signer, the account's nonce shows a lost transaction.
 */
function attemptsMayBeLost({ restored, state, node }: PhaseRow): boolean {
  const unsettled = state === 'READY' || state === 'SUBMITTING' || state === 'UNKNOWN';
  return restored && unsettled && node.signer_binding === null;
}

/**
 * Returns `answer`, or UNKNOWN when the executor knows a later attempt that the database has lost:
 * then nothing may be sent under the present key either.
 */
async function lostAttempts(
  deps: PhaseDependencies,
  executor: Executor,
  { row, context: { prior: _known, ...context } }: Pick<Question, 'row' | 'context'>,
  options: CallOptions,
  answer: ExecutionResult,
): Promise<ExecutionResult> {
  for (let attempt = row.attempt + 1; attempt <= row.attempt + LOST_ATTEMPTS; attempt += 1) {
    const idempotency_key = sendKey(row.movement_id, { ...row, attempt });
    const found = await executor.recover(
      { ...context, attempt, idempotency_key },
      options,
      journalOf(deps, { ...row, attempt }),
    );
    if (found.next_state === 'READY') continue;
    const error_message = `the database was restored and has lost attempt ${String(attempt)}: for ${idempotency_key} the executor reported ${found.next_state}`;
    return { next_state: 'UNKNOWN', error_message };
  }
  return answer;
}

function failureCode(row: PhaseRow, answer: ExecutionResult): string {
  const { error_code = 'VENUE_FAILED' } = answer;
  // The send was ended by a person or a stop, not by the deadline, so time-out edges must not fire.
  const ended = row.cancel_asked || error_code === 'TRANSACTION_CANCELLED';
  return isLate(row) && !ended ? 'NODE_TIMED_OUT' : error_code;
}

async function landed(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<PhaseResult> {
  if (isAccepted(row.state)) {
    if (isLookedFor(row)) await found(deps, row, answer);
    return result(row.state, 'observe');
  }
  const to = row.state === 'SUBMITTING' ? 'SUBMITTED' : 'OBSERVING';
  await mustWrite(deps, row, {
    moves: [to],
    set: {
      ...reported(answer),
      ...sentAmount(row),
      recover_first: false,
      ...shown(row, answer),
      error_count: 0,
      ...(row.submitted_ms === null ? { submitted_at: NOW } : {}),
    },
    artifacts: answer.artifacts ?? [],
    event: 'node_recovered',
    message: 'Recovered: the earlier send landed',
    ...(answer.external_ref === undefined ? {} : { data: { external_ref: answer.external_ref } }),
  });
  return result(to, 'observe');
}

/**
 * Returns whether the node is late or its looks got no answer: observe hands a node over for these
 * reasons. Neither is true when a worker recorded the look and then died.
 */
function isOverdue(row: PhaseRow): boolean {
  return isLate(row) || row.unanswered > 0;
}

/** Records that a look, requested by a person, found the send; it now counts as accepted. */
function found(deps: PhaseDependencies, row: PhaseRow, answer: ExecutionResult): Promise<void> {
  return mustWrite(deps, row, {
    moves: [],
    set: {
      ...reported(answer),
      ...sentAmount(row),
      ...shown(row, answer),
      submitted_at: NOW,
    },
    artifacts: answer.artifacts ?? [],
    event: 'node_recovered',
    message: 'Looked for: the earlier send landed',
  });
}

/** Handles "nothing found". `domain/send/` decides whether this proves that nothing was sent. */
async function notLanded(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult> {
  if (sentNothing(deps, row)) return preparedAnew(deps, row);
  const descriptor = descriptorOf(deps, row);
  const facts = isFollowed(deps, row) ? BY_THE_CHAIN : descriptor;
  const follows = await byBothClocks(deps.db, row.send_not_after_ms, (send_not_after_ms) =>
    afterNodeNotFound({ ...row, send_not_after_ms }, facts, maxAttempts(row.node.retry_policy)),
  );
  switch (follows.next) {
    case 'wait':
      throw lookAgain(
        'nothing found yet, and the last send may still be under way',
        follows.seconds,
      );
    case 'person':
      return unknown(deps, row, whyAPerson(row, follows.why));
    case 'fail': {
      // A team worker's answer alone does not prove that nothing landed, and a retry would pay
      // under another key.
      if (descriptor.kind === 'task_queue' && !isFollowed(deps, row))
        return unknown(deps, row, UNPROVEN);
      const [code, message] =
        follows.why === 'late'
          ? ['NODE_TIMED_OUT', 'nothing landed within observe_seconds']
          : ['SUBMIT_NOT_LANDED', `nothing landed in ${String(row.error_count + 1)} sends`];
      return failNode(deps, row, code, message, movesTo(row, 'FAILED'));
    }
    case 'send':
      // A team's worker is called for one key at a time, and a lost attempt has another key.
      if (attemptsMayBeLost(row) && descriptor.kind === 'task_queue')
        return unknown(deps, row, FORGOTTEN);
      return goOn(deps, row, follows);
  }
}

/**
 * Returns whether the node has neither signed nor sent anything: its mint was prepared as another
 * account's. A team's executor may send all the same, so its word alone does not count.
 */
function sentNothing(deps: PhaseDependencies, row: PhaseRow): boolean {
  return isMintedAlready(row) && descriptorOf(deps, row).kind === 'local';
}

/**
 * Drops what was recorded of another account's mint that is gone, so that the node is prepared
 * again. Only a person's retry makes a node READY that counts as accepted.
 */
async function preparedAnew(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult> {
  if (isAccepted(row.state)) return unknown(deps, row, MINT_GONE);
  await mustWrite(deps, row, {
    moves: row.state === 'SUBMITTING' ? ['READY'] : [],
    set: {
      ...ANSWERED,
      ...unlanded(row, { counts: false }),
      preflight_passed: false,
      // The database replaces a prepared action only together with the epoch.
      prepared_action: null,
      submit_epoch: row.epoch + 1,
      external_ref: null,
      output: null,
      started_at: null,
      submitted_at: null,
    },
    event: 'node_recovered',
    message: "Recovered: another account's mint is gone, so the mint is prepared again",
  });
  return sendAgain({ ...row, prepared_action: null });
}

/**
 * Facts of a send that the service follows on the chain: a nonce lands only once, and the chain has
 * no indexing delay.
 */
const BY_THE_CHAIN = { same_key_safe: true, settle_seconds: 0 } as const;

function whyAPerson(row: PhaseRow, why: Extract<AfterNotFound, { next: 'person' }>['why']): string {
  if (why !== 'unsafe_key') return 'the send was accepted once, and cannot be found now';
  return row.restored
    ? 'the database was restored and may have lost a send; the executor shows none, but does not promise that a repeated idempotency key has no second effect'
    : 'no send was found, but this executor does not promise that a repeated idempotency key has no second effect';
}

/** Sends again; a node that was checked only because of a restore continues where it was. */
async function goOn(
  deps: PhaseDependencies,
  row: PhaseRow,
  { counts }: { readonly counts: boolean },
): Promise<PhaseResult> {
  const kept = unlanded(row, { counts });
  await mustWrite(deps, row, {
    moves: row.state === 'SUBMITTING' ? ['READY'] : [],
    set: { ...ANSWERED, ...kept },
    event: 'node_recovered',
    message: counts
      ? 'Recovered: nothing landed'
      : 'Checked after a restore of the database: nothing was sent',
  });
  return sendAgain({ ...row, error_count: kept.error_count });
}

function inconclusive(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<PhaseResult> {
  return unanswered(deps, row, doubtOf(answer), {
    impatient: true,
    person: () => unknownByAnswer(deps, row, answer, movesTo(row, 'UNKNOWN')),
  });
}

function doubtOf(answer: ExecutionResult): ExecutorFault {
  return new ExecutorFault('server_error', doubtCode(answer), doubtText(answer));
}

/** Builds the call about an UNKNOWN node. The epoch stays: no worker can still write for it. */
async function questionAboutUnknown(
  deps: PhaseDependencies,
  args: RecoverArgs,
): Promise<Question | PhaseResult> {
  const row = await phaseRow(deps, args);
  const recorded = recover.recorded(row, args);
  if (recorded !== null) return recorded;
  // A new run or worker must not look earlier than the previous one would have.
  const early = unhurriedSeconds(deps) * 1000 - (row.now_ms - row.updated_ms);
  if (early > 0) {
    await noteNextLook(deps.db, row, early / 1000);
    throw stillWaiting(row, early / 1000);
  }
  return askAfterSend(deps, row, 'recover', (outcome) => held(deps, args, row, outcome));
}

/**
 * Moves an UNKNOWN node only on a proof. Any other answer is only shown on the node, and a person
 * may still decide; nothing is sent from here.
 */
async function stillUnknown(
  deps: PhaseDependencies,
  row: PhaseRow,
  outcome: CallOutcome,
): Promise<PhaseResult> {
  if ('fault' in outcome)
    return waits(deps, row, afterSilence(row, outcome.fault), row.unanswered + 1);
  const answer = heldTo(assuranceOf(row), outcome.answer ?? { next_state: 'UNKNOWN' });
  switch (answer.next_state) {
    case 'COMPLETED':
      return completeNode(deps, row, answer, ['COMPLETED'], 'node_recovered');
    case 'FAILED':
      return failNode(
        deps,
        row,
        failureCode(row, answer),
        answer.error_message ?? 'the venue ended it',
        ['FAILED'],
        answer,
      );
    case 'READY':
      if (handedOverInVain(deps, row, answer))
        return failNode(
          deps,
          row,
          'NONCE_USED_ELSEWHERE',
          answer.error_message ?? 'nothing landed',
          ['FAILED'],
        );
      return waits(deps, row, inDoubt(sentNothing(deps, row) ? MINT_GONE : NOT_FOUND), 0);
    case 'UNKNOWN': {
      const { external_ref } = answer;
      if (external_ref !== undefined)
        await keepReported(deps, row, { next_state: 'UNKNOWN', external_ref });
      return waits(deps, row, doubtOf(answer), 0);
    }
    case 'SUBMITTING':
    case 'SUBMITTED':
    case 'OBSERVING':
      if (!isLate(row)) return landed(deps, row, answer);
      await keepReported(deps, row, answer);
      return waits(deps, row, underWayFault(answer), 0);
  }
}

/**
 * Returns code and message of an UNKNOWN node whose send is under way. A code that is shown at once
 * stays; any other is part of the message.
 */
function underWay({ error_code, error_message }: ExecutionResult): {
  readonly error_code: string;
  readonly error_message: string;
} {
  if (isShownAtOnce(error_code)) return { error_code, error_message: error_message ?? UNDER_WAY };
  const reason = [error_code, error_message].filter((text) => text !== undefined).join(': ');
  return {
    error_code: SEND_UNDER_WAY,
    error_message: reason === '' ? UNDER_WAY : `${UNDER_WAY} (${reason})`,
  };
}

function underWayFault(answer: ExecutionResult): ExecutorFault {
  const { error_code, error_message } = underWay(answer);
  return new ExecutorFault('server_error', error_code, error_message);
}

function inDoubt(why: string): ExecutorFault {
  return new ExecutorFault('server_error', INCONCLUSIVE, why);
}

/** Stores what the executor reported, for the next call of the executor. */
async function keepReported(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<void> {
  const { external_ref = row.external_ref, output = row.output } = answer;
  if (external_ref === row.external_ref && isDeepStrictEqual(output, row.output)) return;
  const { movement_id, node_key, attempt, epoch } = row;
  await applyTransition(deps.db, {
    movement_id,
    nodes: [{ node_key, attempt, epoch, from: row.state, moves: [], set: reported(answer) }],
    timeline: [],
  });
}

async function waits(
  deps: PhaseDependencies,
  row: PhaseRow,
  doubt: ExecutorFault,
  count: number,
): Promise<PhaseResult> {
  const isKnown =
    doubt.code === row.error_code && storable(doubt.message, 1_000) === row.error_message;
  if (!isKnown || (count === 0) !== (row.unanswered === 0))
    await noteUnanswered(deps, row, doubt, count);
  const pause = unhurriedSeconds(deps);
  await noteNextLook(deps.db, row, pause);
  throw stillWaiting(row, pause);
}

function stillWaiting(row: PhaseRow, seconds: number): ApplicationFailure {
  return lookAgain(`what became of ${row.node_key} is still unknown`, seconds);
}

/** As {@link unknown}, with the code of a look that could not see the send. */
function unseen(
  deps: PhaseDependencies,
  row: PhaseRow,
  { code, message }: ExecutorFault,
): Promise<PhaseResult> {
  const answer = { next_state: 'UNKNOWN', error_code: code, error_message: message } as const;
  return unknownAs(deps, row, answer, movesTo(row, 'UNKNOWN'));
}

/** Makes the node UNKNOWN, so that a person decides. */
function unknown(deps: PhaseDependencies, row: PhaseRow, why: string): Promise<PhaseResult> {
  return unknownNode(deps, row, why, movesTo(row, 'UNKNOWN'));
}
