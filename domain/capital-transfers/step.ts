/**
 * Builds one change of a capital transfer as data: the required state, the new state, and what is
 * recorded. Only `store/capital-transfer-steps.ts` applies it.
 */
import { auditOf, actorOf, type Requester } from '../commands/context.ts';
import type { AuditAction, TransferEventType } from '../events.ts';
import type { JsonObject } from '../json.ts';
import type { Actor } from '../roles.ts';
import { VENUE_ENTRY_CHANGED } from '../send/at-venue.ts';
import { fenced, takenOver as takeOver } from '../send/epoch.ts';
import {
  resolvableStates,
  type TransferResolution,
  type TransferState,
} from '../states/capital-transfer.ts';
import { storable } from '../text.ts';
import type { AuditEntry, Stamp } from '../transition.ts';
import { SHOWN_OTHERWISE, type TransferAnswer } from './provider.ts';
import type { TransferAccountType } from './topology.ts';

/**
 * A transfer as its worker sees it. Times are in milliseconds, relative to the database's clock;
 * negative times have passed.
 */
export interface TransferRow {
  readonly transfer_id: string;
  readonly state: TransferState;
  readonly version: number;
  readonly source_venue: string;
  readonly source_account_type: TransferAccountType;
  readonly destination_venue: string;
  readonly destination_account_type: TransferAccountType;
  readonly asset: string;
  readonly amount: string;
  readonly strategy_id: string | null;
  readonly provider: string;
  /** Which accounts the ends were at its creation; null where nothing was recorded. */
  readonly venue_entries: string | null;
  readonly provider_transfer_id: string | null;
  /** True: the provider has shown its record once, so a later "not found" proves nothing. */
  readonly acknowledged: boolean;
  /**
   * True: the provider's last answer shows its record as pending, or otherwise than ordered. A call
   * without an answer changes nothing. While true, no person can call the transfer failed.
   */
  readonly pending_at_provider: boolean;
  readonly epoch: number;
  readonly sends: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly ended: boolean;
  readonly created_at: string;
  readonly age_ms: number;
  /** Time until the last send must have ended; null before the first send. */
  readonly send_left_ms: number | null;
  /** Time until a person has to decide; null while the transfer waits for nothing. */
  readonly pending_left_ms: number | null;
}

export interface TransferFields {
  readonly epoch?: number;
  readonly sends?: number;
  readonly acknowledged?: boolean;
  readonly pending_at_provider?: boolean;
  readonly provider_transfer_id?: string;
  readonly send_not_after?: Stamp;
  /** The first value stays: a later step does not change it. */
  readonly pending_until?: Stamp;
  readonly error_code?: string | null;
  readonly error_message?: string | null;
}

export interface TransferEvent {
  readonly event_type: TransferEventType;
  readonly message: string;
  readonly actor: Actor;
  readonly data?: JsonObject;
}

export interface TransferStep {
  readonly transfer_id: string;
  readonly from: readonly TransferState[];
  /** The new state; if absent, the state stays. */
  readonly to?: TransferState;
  /** The epoch that the row must have. A worker whose send was taken over has an older epoch. */
  readonly epoch?: number;
  readonly set: TransferFields;
  readonly end_hold?: 'released' | 'consumed';
  readonly event: TransferEvent;
  readonly audit?: readonly AuditEntry[];
  /** True: the step starts a send, and is refused while the cutover switch is frozen. */
  readonly fence?: true;
  /** The step is refused for a transfer that was created longer ago than this, in seconds. */
  readonly within_age_seconds?: number;
  /** A person states the outcome, for which an approval rule may want more people. */
  readonly states_outcome?: Exclude<Resolution['resolution'], 'manual_intervention'>;
  /** True: the step comes from outside the workflow run, so the run must be woken. */
  readonly wakes?: boolean;
}

/** The error that a transfer shows. */
export type TransferReason = Pick<TransferRow, 'error_code' | 'error_message'>;

/** The transfer's row, as the step found it. */
type At = Pick<TransferRow, 'transfer_id' | 'state' | 'epoch' | 'provider'>;

const LONGEST_MESSAGE = 1_000;
const LONGEST_CODE = 128;
const LONGEST_ID = 256;
const PENDING = 'PENDING_PROVIDER_CONFIRMATION';
const CONFIRMATION_TIMEOUT = 'PROVIDER_CONFIRMATION_TIMEOUT';

/**
 * Returns the step that passes the fence (the last check before a send). Until `windowSeconds` have
 * passed, a send may be under way. The first send is refused later than `withinSeconds` after the
 * transfer was created, since its process may have stood still since it read the row.
 */
export function submitting(
  row: At & Pick<TransferRow, 'sends'>,
  windowSeconds: number,
  withinSeconds: number,
): TransferStep {
  return {
    ...from(row),
    to: 'SUBMITTING',
    fence: true,
    ...(row.state === 'CREATED' ? { within_age_seconds: withinSeconds } : {}),
    set: { ...fenced(row.epoch, windowSeconds), sends: row.sends + 1 },
    event: eventBy(
      'transfer_submitting',
      row.sends === 0 ? 'Sent to the provider' : 'Sent again under the same reference',
      row,
    ),
  };
}

/**
 * Returns the step for a send without a usable answer. The sender can no longer write, and the
 * service asks the provider for the outcome. With `isOver` the sender itself reports that its call
 * has ended, and that no other process works on it.
 */
export function takenOver(
  row: At,
  pendingSeconds: number,
  { isOver }: { readonly isOver: boolean },
): TransferStep {
  return {
    ...from(row),
    to: PENDING,
    set: {
      ...takeOver(row.epoch, { is_over: isOver }),
      pending_until: { '@after_seconds': pendingSeconds },
    },
    event: eventBy(
      'transfer_pending',
      'No usable answer: the service asks the provider for the outcome',
      {
        provider: null,
      },
    ),
  };
}

/** Returns the step that the provider's record causes; null if the record shows nothing new. */
export function answered(
  row: At & Pick<TransferRow, 'acknowledged'>,
  answer: TransferAnswer,
  pendingSeconds: number,
): TransferStep | null {
  const provider_transfer_id = storable(answer.provider_transfer_id ?? '', LONGEST_ID);
  const named = provider_transfer_id === '' ? {} : { provider_transfer_id };
  const known = { acknowledged: true, ...named };
  const data = { data: named };
  switch (answer.status) {
    case 'completed':
      return completed(row, known, {
        ...eventBy('transfer_completed', 'Completed by the provider', row),
        ...data,
      });
    case 'failed':
      return failed(row, { code: answer.error_code, message: answer.error_message }, row, known);
    case 'pending':
      if (row.state !== 'SUBMITTING' && row.acknowledged) return null;
      return {
        ...from(row),
        ...(row.state === 'SUBMITTING' ? { to: PENDING } : {}),
        set: {
          ...known,
          pending_at_provider: true,
          pending_until: { '@after_seconds': pendingSeconds },
        },
        event: {
          ...eventBy(
            'transfer_pending',
            'Accepted by the provider, which has not confirmed it yet',
            row,
          ),
          ...data,
        },
      };
  }
}

/**
 * Returns the step for a transfer that is proven to have moved nothing. `by` is null if the
 * service, not the provider, proved this.
 */
export function failed(
  row: At,
  fault: { readonly code: string; readonly message: string },
  by: { readonly provider: string | null },
  set: TransferFields = {},
): TransferStep {
  const error = errorOf(fault);
  return {
    ...from(row),
    to: 'FAILED',
    set: { ...set, ...error },
    end_hold: 'released',
    event: {
      ...eventBy('transfer_failed', `Failed: ${error.error_message || error.error_code}`, by),
      data: { error_code: error.error_code },
    },
    audit: [systemAudit(row, 'capital_transfer.fail', 'failed', { error_code: error.error_code })],
  };
}

/**
 * Returns the step that asks a person to decide: the transfer waited too long, or no record can
 * prove the outcome.
 */
export function attention(row: At, why: string, error_code = CONFIRMATION_TIMEOUT): TransferStep {
  const error_message = storable(why, LONGEST_MESSAGE);
  return {
    ...from(row),
    to: 'MANUAL_INTERVENTION',
    set: { error_code, error_message },
    event: eventBy('transfer_attention', error_message, { provider: null }),
  };
}

/**
 * Returns the step for a transfer that its provider shows twice, or otherwise than ordered (a code
 * of `SHOWN_OTHERWISE`). A person decides, at once and not by calling it failed.
 */
export function shownOtherwise(
  row: At,
  fault: { readonly code: string; readonly message: string },
): TransferStep {
  const error = errorOf(fault);
  return {
    ...from(row),
    ...(row.state === 'MANUAL_INTERVENTION' ? {} : { to: 'MANUAL_INTERVENTION' }),
    set: { acknowledged: true, pending_at_provider: true, ...error },
    event: {
      ...eventBy('transfer_attention', `Not as ordered: ${error.error_message}`, row),
      data: { error_code: error.error_code },
    },
  };
}

/**
 * Returns the error of a transfer that waits, after a look that brought `why`; null if its row has
 * that already. Its code stays, unless it is of an answer that no longer holds. Before a person has
 * to decide, a transfer shows only that the look could not see it (`isUnseen`).
 */
export function reasonAfterLook(
  { state, error_code, error_message }: TransferReason & Pick<TransferRow, 'state'>,
  why: string,
  { isUnseen }: { readonly isUnseen: boolean },
): TransferReason | null {
  const isWithPerson = state === 'MANUAL_INTERVENTION';
  const isOver = [...SHOWN_OTHERWISE, VENUE_ENTRY_CHANGED].includes(error_code ?? '');
  const kept = isOver ? CONFIRMATION_TIMEOUT : error_code;
  const code = isUnseen ? VENUE_ENTRY_CHANGED : isWithPerson ? kept : null;
  const message = isWithPerson || isUnseen ? storable(why, LONGEST_MESSAGE) : null;
  return code === error_code && message === error_message
    ? null
    : { error_code: code, error_message: message };
}

function errorOf(fault: { readonly code: string; readonly message: string }) {
  return {
    error_code: storable(fault.code, LONGEST_CODE) || 'TRANSFER_FAILED',
    error_message: storable(fault.message, LONGEST_MESSAGE),
  };
}

export interface Resolution {
  readonly resolution: TransferResolution;
  readonly reason: string;
  readonly provider_transfer_id?: string | undefined;
}

/**
 * Returns the step for a person's decision. The epoch increases, so that no running call can
 * overwrite the decision.
 */
export function resolved(
  row: At,
  { resolution, reason, provider_transfer_id }: Resolution,
  requester: Requester,
): TransferStep {
  const to = {
    completed: 'COMPLETED',
    failed: 'FAILED',
    manual_intervention: 'MANUAL_INTERVENTION',
  } as const;
  const details = {
    resolution,
    ...(provider_transfer_id === undefined ? {} : { provider_transfer_id }),
  };
  const subject = {
    action: 'capital_transfer.resolve',
    entity_type: 'capital_transfer',
    entity_key: row.transfer_id,
    details,
  } as const;
  return {
    ...from(row),
    from: resolvableStates(resolution).filter((state) => state === row.state),
    ...(row.state === to[resolution] ? {} : { to: to[resolution] }),
    set: {
      epoch: row.epoch + 1,
      ...(provider_transfer_id === undefined ? {} : { provider_transfer_id }),
      ...(resolution === 'completed' ? { error_code: null, error_message: null } : {}),
      ...(resolution === 'failed'
        ? { error_code: 'RESOLVED_AS_FAILED', error_message: reason }
        : {}),
    },
    // To leave it open moves nothing.
    ...(resolution === 'manual_intervention' ? {} : { states_outcome: resolution }),
    ...(resolution === 'completed' ? { end_hold: 'consumed' } : {}),
    ...(resolution === 'failed' ? { end_hold: 'released' } : {}),
    event: {
      event_type: 'transfer_resolved',
      message: `Resolved as ${resolution}: ${reason}`,
      actor: actorOf(requester),
      data: details,
    },
    audit: [auditOf(requester, { ...subject, reason })],
    wakes: true,
  };
}

function completed(row: At, set: TransferFields, event: TransferEvent): TransferStep {
  return {
    ...from(row),
    to: 'COMPLETED',
    set: { ...set, error_code: null, error_message: null },
    end_hold: 'consumed',
    event,
    audit: [systemAudit(row, 'capital_transfer.complete', 'success')],
  };
}

function from(row: At): Pick<TransferStep, 'transfer_id' | 'from' | 'epoch'> {
  return { transfer_id: row.transfer_id, from: [row.state], epoch: row.epoch };
}

/** Returns an event by the provider; by the service itself if `provider` is null. */
function eventBy(
  event_type: TransferEventType,
  message: string,
  by: { readonly provider: string | null },
): TransferEvent {
  return {
    event_type,
    message,
    actor: by.provider === null ? { type: 'system' } : { type: 'executor', label: by.provider },
  };
}

function systemAudit(
  row: At,
  action: AuditAction,
  outcome: AuditEntry['outcome'],
  details: JsonObject = {},
): AuditEntry {
  return {
    action,
    entity_type: 'capital_transfer',
    entity_key: row.transfer_id,
    outcome,
    actor_role: 'system',
    details,
  };
}
