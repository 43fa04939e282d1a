/**
 * Transfers between accounts, computed from the journal's events: one record for each reference.
 */
import type { EventOf, Posting, TransferTerms } from './events.ts';

export interface TransferRecord {
  readonly transfer_id: string;
  readonly terms: TransferTerms;
  readonly units: bigint;
  readonly outcome: EventOf<'transfer_accepted'>['outcome'];
  /**
   * When the transfer ends without a call of the test bench, in milliseconds since 1970; null is
   * never.
   */
  readonly due: number | null;
  readonly accepted_at: string;
  status: 'pending' | 'completed' | 'failed';
  settled_at: string | null;
}

/**
 * Everything that happened under one reference. More than one transfer only while references are
 * not deduplicated.
 */
export interface ReferenceRecord {
  readonly reference: string;
  readonly transfers: TransferRecord[];
  refusal?: EventOf<'transfer_refused'>;
  submit_calls: number;
}

export type TransferEvent = EventOf<
  'transfer_called' | 'transfer_accepted' | 'transfer_refused' | 'transfer_settled'
>;

export interface TransferBook {
  apply(event: TransferEvent): void;
  reference(reference: string): ReferenceRecord | undefined;
  references(): readonly ReferenceRecord[];
  pending(): readonly TransferRecord[];
}

/** Creates an empty book that changes balances through `post`. */
export function createTransferBook(post: (postings: readonly Posting[]) => void): TransferBook {
  const references = new Map<string, ReferenceRecord>();
  const pending = new Map<string, TransferRecord>();
  const record = (reference: string): ReferenceRecord => {
    const known = references.get(reference);
    if (known !== undefined) return known;
    const fresh: ReferenceRecord = { reference, transfers: [], submit_calls: 0 };
    references.set(reference, fresh);
    return fresh;
  };
  const accept = (event: EventOf<'transfer_accepted'>): void => {
    const { transfer_id, terms, outcome, due, at } = event;
    const units = BigInt(event.units);
    const transfer: TransferRecord = {
      transfer_id,
      terms,
      units,
      outcome,
      due,
      accepted_at: at,
      status: 'pending',
      settled_at: null,
    };
    record(event.reference).transfers.push(transfer);
    pending.set(transfer_id, transfer);
    post([sourcePosting(terms, -units)]);
  };
  const settle = (event: EventOf<'transfer_settled'>): void => {
    const transfer = pending.get(event.transfer_id);
    if (transfer === undefined)
      throw new Error(`the ledger settles ${event.transfer_id}, which is not pending`);
    pending.delete(transfer.transfer_id);
    transfer.status = event.outcome;
    transfer.settled_at = event.at;
    const { terms, units } = transfer;
    post([
      event.outcome === 'completed'
        ? destinationPosting(terms, units)
        : sourcePosting(terms, units),
    ]);
  };
  return {
    apply: (event) => {
      switch (event.type) {
        case 'transfer_called':
          record(event.reference).submit_calls += 1;
          return;
        case 'transfer_accepted':
          return accept(event);
        case 'transfer_refused':
          record(event.reference).refusal = event;
          return;
        case 'transfer_settled':
          return settle(event);
      }
    },
    reference: (reference) => references.get(reference),
    references: () => [...references.values()],
    pending: () => [...pending.values()],
  };
}

/** Returns a change of the source's balance. */
export function sourcePosting(terms: TransferTerms, units: bigint): Posting {
  return {
    account: terms.from_account,
    account_type: terms.from_account_type,
    asset: terms.asset,
    delta: units.toString(),
  };
}

/** Returns a change of the destination's balance. */
export function destinationPosting(terms: TransferTerms, units: bigint): Posting {
  return {
    account: terms.to_account,
    account_type: terms.to_account_type,
    asset: terms.asset,
    delta: units.toString(),
  };
}
