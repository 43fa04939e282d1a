/** Views of transfers between accounts. */
import type { ReferenceRecord, TransferRecord } from './book-transfers.ts';
import type { EventOf, TransferTerms } from './events.ts';

/** The record of one reference, as the caller sees it. */
export interface TransferView extends TransferTerms {
  readonly client_reference: string;
  /** Null when the transfer was refused before it got an id. */
  readonly transfer_id: string | null;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

/**
 * One reference in `GET /transfers`. `effects` above 1 means that funds moved more than once under
 * this reference.
 */
export interface TransferEntry extends TransferView {
  readonly transfer_ids: readonly string[];
  readonly submit_calls: number;
  readonly effects: number;
}

export function transferView(client_reference: string, transfer: TransferRecord): TransferView {
  const { transfer_id, terms, status, accepted_at, settled_at } = transfer;
  const failed = status === 'failed';
  return {
    client_reference,
    transfer_id,
    status,
    ...terms,
    error_code: failed ? 'TRANSFER_FAILED' : null,
    error_message: failed
      ? 'the transfer was not carried out; the source got its amount back'
      : null,
    created_at: accepted_at,
    completed_at: settled_at,
  };
}

export function refusedView(refusal: EventOf<'transfer_refused'>): TransferView {
  const { reference, terms, error_code, error_message, at } = refusal;
  const times = { created_at: at, completed_at: at };
  return {
    client_reference: reference,
    transfer_id: null,
    status: 'failed',
    ...terms,
    error_code,
    error_message,
    ...times,
  };
}

/** Returns every booked or refused reference, oldest first. */
export function transferEntries(references: readonly ReferenceRecord[]): TransferEntry[] {
  return references.flatMap((record) => {
    const { reference, transfers, refusal, submit_calls } = record;
    const [first] = transfers;
    const view =
      first === undefined ? refusal && refusedView(refusal) : transferView(reference, first);
    if (view === undefined) return [];
    const effects = transfers.filter(({ status }) => status !== 'failed').length;
    return [
      {
        ...view,
        transfer_ids: transfers.map(({ transfer_id }) => transfer_id),
        submit_calls,
        effects,
      },
    ];
  });
}
