/**
 * Finds out the outcome of a capital transfer: calls its provider until the provider's record
 * changes something. A call that changes nothing fails with a retryable failure. First takes the
 * transfer over from the worker that sent, so that this worker can write nothing more. Believes "no
 * such record" only once no send can still be under way.
 */
import { Context } from '@temporalio/activity';
import {
  providerOf,
  SHOWN_OTHERWISE,
  type TransferAnswer,
  type TransferProvider,
} from '../../domain/capital-transfers/provider.ts';
import {
  answered,
  attention,
  failed,
  reasonAfterLook,
  shownOtherwise,
  takenOver,
  type TransferRow,
  type TransferStep,
} from '../../domain/capital-transfers/step.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { LookTransferResult } from '../../domain/messages.ts';
import { hasCompared, VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import type { AfterNotFound } from '../../domain/send/not-found.ts';
import { afterTransferNotFound } from '../../domain/capital-transfers/send.ts';
import { notePending, noteReason } from '../../store/capital-transfer-steps.ts';
import { readTransferRow } from '../../store/capital-transfers.ts';
import { readCutover } from '../../store/cutover.ts';
import { noteClockWait } from '../../store/transfer-clock-waits.ts';
import { byBothClocks } from '../both-clocks.ts';
import { delayOf, lookAgain, unhurriedSeconds } from '../failures.ts';
import { repeatable } from '../leaving.ts';
import {
  applyStep,
  clocksApart,
  CLOCK_PAUSE_SECONDS,
  orderOf,
  type TransferDependencies,
} from './context.ts';

const LONGEST_PAUSE_SECONDS = 15;
const FROZEN_SECONDS = 5;

export async function look(
  deps: TransferDependencies,
  transferId: string,
): Promise<LookTransferResult> {
  const row = await waiting(deps, transferId);
  if (row === null) return load(0);
  const provider = providerOf(deps.providers, row);
  if (provider === undefined)
    return silent(deps, row, { why: 'no worker is bound to the accounts of the transfer' });
  let answer: TransferAnswer | null;
  try {
    answer = await repeatable(
      deps,
      (options) => provider.find(orderOf(row), options),
      provider.timeout_seconds,
    );
  } catch (error) {
    // This worker stops; that is no fault of the provider.
    if (delayOf(error) !== null) throw error;
    // Every error counts, also a defect of this program; otherwise no person would ever see it.
    deps.log.warn(
      { err: error, transfer_id: transferId },
      'the provider of a capital transfer does not answer',
    );
    return faulty(deps, row, error);
  }
  const step = answer === null ? null : answered(row, answer, deps.pendingSeconds);
  if (step !== null) return applied(deps, step);
  await noteAnswer(deps, row, answer);
  if (answer === null) return notFound(deps, provider, row);
  return unanswered(deps, row, {
    why: 'the provider has not confirmed the transfer',
    ...(answer.status === 'pending' && answer.retry_after_seconds !== undefined
      ? { within: answer.retry_after_seconds }
      : {}),
  });
}

/**
 * Notes whether the provider's answer shows the transfer as pending; null: it shows no record. A
 * person cannot call a pending transfer failed, nor one that the last look could not see.
 */
async function noteAnswer(
  deps: TransferDependencies,
  row: TransferRow,
  answer: TransferAnswer | null,
): Promise<void> {
  const pending = answer?.status === 'pending';
  if (row.pending_at_provider !== pending) await notePending(deps.db, row, pending);
  if (row.error_code !== VENUE_ENTRY_CHANGED) return;
  // Here, since a send that follows this look may wait for long.
  const seen = reasonAfterLook(row, 'its entries are back', { isUnseen: false });
  if (seen !== null) await noteReason(deps.db, row, seen);
}

const OTHER_ACCOUNTS = 'its venue keys mean other accounts than at its creation';

/** Handles a look that threw, which may show that the provider has the transfer. */
async function faulty(
  deps: TransferDependencies,
  row: TransferRow,
  error: unknown,
): Promise<LookTransferResult> {
  const why = 'the provider does not answer';
  // What an error of the program itself says is for the log alone.
  if (!(error instanceof ExecutorFault)) return silent(deps, row, { why });
  const { code, message } = error;
  if (SHOWN_OTHERWISE.includes(code)) return otherwise(deps, row, error);
  if (code === VENUE_ENTRY_CHANGED)
    return silent(deps, row, { why: OTHER_ACCOUNTS, reported: message, isUnseen: true });
  const seen = hasCompared(error) ? { isUnseen: false } : {};
  return silent(deps, row, { why, reported: `${code}: ${message}`, ...seen });
}

/** Hands a transfer that its provider shows otherwise than ordered to a person, and keeps why. */
async function otherwise(
  deps: TransferDependencies,
  row: TransferRow,
  fault: ExecutorFault,
): Promise<LookTransferResult> {
  const step = shownOtherwise(row, fault);
  const { error_code, error_message } = step.set;
  const isKnown =
    row.state === 'MANUAL_INTERVENTION' && row.pending_at_provider && row.error_code === error_code;
  if (!isKnown) return applied(deps, step);
  // A text that differs at each look, as in the order of records, must not make the next at once.
  if (row.error_message !== error_message)
    await noteReason(deps.db, row, {
      error_code: row.error_code,
      error_message: error_message ?? null,
    });
  throw lookAgain('the provider shows it otherwise than ordered', unhurriedSeconds(deps));
}

/** Takes the transfer over from its sender and returns its row; null: nothing to look for. */
async function waiting(
  deps: TransferDependencies,
  transferId: string,
): Promise<TransferRow | null> {
  const row = await readTransferRow(deps.db, transferId);
  if (row === null || row.ended || row.state === 'CREATED') return null;
  if (row.state !== 'SUBMITTING') return row;
  const { ok, row: taken } = await applyStep(
    deps,
    takenOver(row, deps.pendingSeconds, { isOver: false }),
  );
  return ok ? taken : null;
}

/** The reason shown when a transfer without a record is left to a person. */
const LEFT_TO_A_PERSON: Readonly<
  Record<Extract<AfterNotFound, { next: 'person' }>['why'], string>
> = {
  decides: 'the provider shows no record of the transfer',
  accepted: 'the provider shows no record of the transfer',
  unsafe_key:
    'the provider shows no record, and does not promise that a repeated send has no second effect',
  // By then the order may be useless, and a person may have moved the funds in another way.
  late: 'nothing landed, and it is too late for the service to send the transfer again',
};

/** Handles a missing record, which may prove nothing; {@link afterTransferNotFound} decides. */
async function notFound(
  deps: TransferDependencies,
  provider: TransferProvider,
  row: TransferRow,
): Promise<LookTransferResult> {
  const follows = await byBothClocks(deps.db, row.send_left_ms, (send_left_ms) =>
    afterTransferNotFound({ ...row, send_left_ms }, provider),
  );
  switch (follows.next) {
    case 'wait':
      return unanswered(deps, row, {
        why: 'the provider shows no record yet, and the last send may still be under way',
        within: follows.seconds,
      });
    case 'person':
      return unanswered(deps, row, { why: LEFT_TO_A_PERSON[follows.why] });
    case 'send': {
      // While clocks disagree the transfer cannot be sent; after `pendingSeconds` a person decides.
      const apart = clocksApart(deps, row);
      if (apart !== null) {
        await noteClockWait(deps.db, row.transfer_id, apart);
        return unanswered(deps, row, { why: apart, within: CLOCK_PAUSE_SECONDS });
      }
      // The service is frozen and sends nothing, so keep looking until it sends again.
      if ((await readCutover(deps.db)).mode === 'frozen')
        throw lookAgain('the service is frozen and sends nothing at present', FROZEN_SECONDS);
      return { next: 'submit', epoch: row.epoch, delay_ms: 250 * 2 ** row.sends };
    }
    case 'fail': {
      const fault = {
        code: 'SUBMIT_NOT_LANDED',
        message: `nothing landed in ${String(row.sends)} sends`,
      };
      return applied(deps, failed(row, fault, { provider: null }));
    }
  }
}

/** A look that brought nothing new. */
interface Nothing {
  readonly why: string;
  /** What the provider said. It may hold addresses, so it goes to the row and to no history. */
  readonly reported?: string;
  /** Seconds until the next look, at most. */
  readonly within?: number;
  /** True: it could not see the transfer, as {@link VENUE_ENTRY_CHANGED} says. */
  readonly isUnseen?: boolean;
}

/**
 * Handles a look without an answer. What the provider showed before stays, and what it showed
 * otherwise than ordered stays the reason. So does that no look could see the transfer, unless this
 * one is said to have compared its entries.
 */
async function silent(
  deps: TransferDependencies,
  row: TransferRow,
  { isUnseen = row.error_code === VENUE_ENTRY_CHANGED, ...nothing }: Nothing,
): Promise<LookTransferResult> {
  if (SHOWN_OTHERWISE.includes(row.error_code ?? ''))
    throw lookAgain(nothing.why, unhurriedSeconds(deps));
  return unanswered(deps, row, { ...nothing, isUnseen });
}

/**
 * Handles a look that brought nothing new: looks again later, or leaves the transfer to a person
 * after too long.
 */
async function unanswered(
  deps: TransferDependencies,
  row: TransferRow,
  { why, reported, within = Infinity, isUnseen = false }: Nothing,
): Promise<LookTransferResult> {
  const left = (row.pending_left_ms ?? 0) / 1000;
  const waited = left <= 0 ? `Waited ${String(deps.pendingSeconds)} s: ` : '';
  const reason = `${waited}${why}${reported === undefined ? '' : `: ${reported}`}`;
  const isWithPerson = row.state === 'MANUAL_INTERVENTION';
  if (!isWithPerson && left <= 0)
    return applied(deps, attention(row, reason, isUnseen ? VENUE_ENTRY_CHANGED : undefined));
  const changed = reasonAfterLook(row, reason, { isUnseen });
  if (changed !== null) await noteReason(deps.db, row, changed);
  if (isWithPerson) throw lookAgain(why, unhurriedSeconds(deps));
  const pause = Math.min(
    LONGEST_PAUSE_SECONDS,
    0.5 * 2 ** Math.min(10, Context.current().info.attempt - 1),
  );
  throw lookAgain(why, Math.min(pause, within, left + 0.05));
}

async function applied(
  deps: TransferDependencies,
  step: TransferStep,
): Promise<LookTransferResult> {
  // The run loads the present state, even when the database refused the step.
  const { row } = await applyStep(deps, step);
  return load(row?.epoch ?? 0);
}

const load = (epoch: number): LookTransferResult => ({ next: 'load', epoch, delay_ms: 0 });
