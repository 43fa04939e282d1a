/** The line of a withdrawal in an account's own books. */
import { add } from '../../domain/money.ts';
import type { VenueRecord } from '../../domain/reconcile/records.ts';
import type { WithdrawalRecord } from './dialect.ts';

/**
 * Returns the line of a withdrawal. `amount` is what left the account, where that is not what
 * arrives and the fee.
 */
export function withdrawalLine(
  { net_amount, fee, address, ...record }: WithdrawalRecord,
  {
    client_id,
    at,
    amount = add(net_amount, fee),
  }: Pick<VenueRecord, 'client_id' | 'at'> & {
    readonly amount?: string;
  },
): VenueRecord {
  return {
    kind: 'withdrawal',
    id: record.id,
    client_id,
    at,
    status: record.status,
    asset: record.asset,
    amount,
    fee,
    network: record.network,
    address: address === '' ? null : address,
    tag: record.tag,
    transaction: record.transaction,
    source: null,
    destination: null,
  };
}
