/** Reads the credit that a person names for a deposit: a row of the account's ledger. */
import { unprovenClaim, type ClaimReader, type NamedClaim } from '../../domain/claim-reader.ts';
import type { CallOptions } from '../../domain/executor.ts';
import { compare } from '../../domain/money.ts';
import { idTime, isId } from '../../platform/ids.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import { hashIn } from '../evm/named-transaction.ts';
import type { PerpClient } from './client.ts';
import type { PerpVenue } from './config.ts';
import { PERP_DEPOSIT_DESCRIPTOR } from './deposit.ts';
import { depositRows, rowsSince } from './ledger.ts';
import { readDepositPlan, requireVenue } from './plan.ts';

/** Returns the reader. Everyone may read an account's ledger. */
export function createCreditReader({
  client,
  venue,
}: {
  readonly client: PerpClient;
  readonly venue: PerpVenue;
}): ClaimReader {
  return {
    action_types: PERP_DEPOSIT_DESCRIPTOR.action_types,
    venues: null,
    async read(named, signal) {
      const call: CallOptions = { signal, requestId: 'a look at a credit' };
      requireVenue(named, venue);
      const { amount } = readDepositPlan(named);
      const hash = hashIn(named.output['ledger_hash']);
      if (hash === null)
        return unprovenClaim('not_found', 'output.ledger_hash is no transaction hash');
      const account = venue.account.toLowerCase();
      const recorded = named.recorded['ledger_account'];
      if (typeof recorded === 'string' && !sameEvmAddress(recorded, account))
        return unprovenClaim('differs', `the deposit was made for ${recorded}`, {
          ledger_account: account,
        });
      const rows = depositRows(await client.ledger(account, sinceOf(named), call), hash);
      if (rows.length === 0)
        return unprovenClaim('not_found', `the ledger of ${account} has no credit for ${hash}`);
      const row =
        rows.find(({ credited }) => credited !== null && compare(credited, amount) === 0) ??
        (rows.length === 1 ? rows[0] : undefined);
      if (row === undefined || row.credited === null)
        return unprovenClaim(
          'differs',
          `the ledger has no credit of ${amount} for ${hash}, and several others or unreadable ones`,
          { credited: rows.map(({ credited }) => credited) },
        );
      // Another amount than was sent has to be what the person says, too.
      if (compare(row.credited, amount) !== 0 && named.output['received_amount'] === undefined)
        return unprovenClaim(
          'differs',
          `the venue credited ${row.credited} and not ${amount}; name it in output.received_amount`,
          { received_amount: row.credited },
        );
      return {
        ok: true,
        output: {
          received_amount: row.credited,
          ledger_hash: hash,
          ledger_account: account,
          credited_ms: row.row.time,
        },
      };
    },
  };
}

/** Returns the earliest possible time of the row, in milliseconds since 1970. */
function sinceOf({ movement_id, prepared_action: prepared }: NamedClaim): number {
  const { prepared_ms, venue_ms = prepared_ms } = prepared;
  if (typeof venue_ms === 'number') return rowsSince(venue_ms);
  return isId(movement_id) ? rowsSince(idTime(movement_id)) : 0;
}
