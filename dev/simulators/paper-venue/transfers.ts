/** Transfers between accounts, like an exchange's universal-transfer endpoint. */
import { randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { isDecimal, normalize } from '../../../domain/money.ts';
import type { Refusal } from './actions/action.ts';
import { sourcePosting, type ReferenceRecord, type TransferRecord } from './book-transfers.ts';
import type { EventOf, TransferTerms } from './events.ts';
import { VenueHttpError } from './http-error.ts';
import type { Ledger } from './ledger.ts';
import type { ChainSettings } from './settings.ts';
import { transferUnits, uncovered } from './transfer-terms.ts';
import { refusedView, transferView, type TransferView } from './transfer-views.ts';

export interface TransferRequest extends TransferTerms {
  readonly client_reference: string;
}

export interface TransferConditions {
  /** false: ignore earlier transfers with the same reference. */
  readonly deduplicate: boolean;
  readonly processing_ms: number;
  readonly transfer_outcome: TransferRecord['outcome'];
}

export interface Transfers {
  /** Executes the transfer, once for each reference. */
  submit(request: TransferRequest, conditions: TransferConditions): TransferView;
  find(reference: string, deduplicate: boolean): TransferView;
  /** Ends the oldest pending transfer of a reference. */
  settle(reference: string, outcome: EventOf<'transfer_settled'>['outcome']): TransferView;
  /**
   * Ends the transfers that are due. Called before each read of the books, so there is no timer,
   * and a restart loses nothing.
   */
  settleDue(): void;
}

/**
 * Creates the transfers of a ledger. A refusal throws VenueHttpError 422 with its code and is final
 * for its reference. Other errors: 409 IDEMPOTENCY_CONFLICT (the reference belongs to another
 * transfer), 404 TRANSFER_UNKNOWN and 409 TRANSFER_NOT_PENDING.
 */
export function createTransfers(ledger: Ledger, chain: ChainSettings): Transfers {
  const { book } = ledger;

  const settleDue = (): void => {
    for (const { transfer_id, outcome, due } of book.transfers.pending()) {
      if (outcome === 'pending' || due === null || due > Date.now()) continue;
      ledger.record({ type: 'transfer_settled', transfer_id, outcome });
    }
  };

  const refuseFor = (reference: string, terms: TransferTerms, why: Refusal): never => {
    ledger.record({ type: 'transfer_refused', reference, terms, ...why });
    throw new VenueHttpError(422, why.error_code, why.error_message);
  };

  const accept = (request: TransferRequest, conditions: TransferConditions): TransferView => {
    const { client_reference: reference } = request;
    const terms = termsOf(request);
    const units = transferUnits(terms, chain);
    if (typeof units !== 'bigint') return refuseFor(reference, terms, units);
    const short = uncovered([sourcePosting(terms, -units)], book.balance);
    if (short !== null) return refuseFor(reference, terms, short);
    const { transfer_outcome: outcome, processing_ms } = conditions;
    const transfer_id = `paper-transfer-${randomUUID()}`;
    const due = outcome === 'pending' ? null : Date.now() + processing_ms;
    ledger.record({
      type: 'transfer_accepted',
      reference,
      transfer_id,
      terms,
      units: units.toString(),
      outcome,
      due,
    });
    settleDue();
    return viewOf(known(reference).transfers.at(-1), reference);
  };

  const known = (reference: string): ReferenceRecord => {
    const record = book.transfers.reference(reference);
    if (record === undefined || (record.transfers.length === 0 && record.refusal === undefined))
      throw unknown();
    return record;
  };

  return {
    settleDue,
    submit: (request, conditions) => {
      settleDue();
      const { client_reference: reference } = request;
      ledger.record({ type: 'transfer_called', reference });
      if (!conditions.deduplicate) return accept(request, conditions);
      const record = book.transfers.reference(reference);
      const first = record?.transfers[0];
      const earlier = first?.terms ?? record?.refusal?.terms;
      if (earlier === undefined) return accept(request, conditions);
      if (canonicalize(earlier) !== canonicalize(termsOf(request))) {
        throw new VenueHttpError(
          409,
          'IDEMPOTENCY_CONFLICT',
          'this reference was used for another transfer',
        );
      }
      if (first !== undefined) return viewOf(first, reference);
      throw new VenueHttpError(
        422,
        record?.refusal?.error_code ?? '',
        record?.refusal?.error_message ?? '',
      );
    },
    find: (reference, deduplicate) => {
      settleDue();
      if (!deduplicate) throw unknown();
      const record = known(reference);
      const first = record.transfers[0];
      return first === undefined && record.refusal !== undefined
        ? refusedView(record.refusal)
        : viewOf(first, reference);
    },
    settle: (reference, outcome) => {
      settleDue();
      const transfer = known(reference).transfers.find(({ status }) => status === 'pending');
      if (transfer === undefined)
        throw new VenueHttpError(
          409,
          'TRANSFER_NOT_PENDING',
          'this reference has no pending transfer',
        );
      ledger.record({ type: 'transfer_settled', transfer_id: transfer.transfer_id, outcome });
      return transferView(reference, transfer);
    },
  };
}

function viewOf(transfer: TransferRecord | undefined, reference: string): TransferView {
  if (transfer === undefined) throw unknown();
  return transferView(reference, transfer);
}

function unknown(): VenueHttpError {
  return new VenueHttpError(404, 'TRANSFER_UNKNOWN', 'no transfer of this reference');
}

function termsOf(request: TransferRequest): TransferTerms {
  const { from_account, from_account_type, to_account, to_account_type, asset, amount } = request;
  return {
    from_account,
    from_account_type: from_account_type.toUpperCase(),
    to_account,
    to_account_type: to_account_type.toUpperCase(),
    asset: asset.toUpperCase(),
    amount: isDecimal(amount) ? normalize(amount) : amount,
  };
}
