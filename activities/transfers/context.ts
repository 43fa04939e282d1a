/** What the activities of a capital transfer have at hand. */
import type { Logger } from 'pino';
import type { TransferOrder, TransferProvider } from '../../domain/capital-transfers/provider.ts';
import type { TransferRow } from '../../domain/capital-transfers/step.ts';
import type { Database } from '../../prisma/client.ts';

export interface TransferDependencies {
  readonly db: Database;
  readonly log: Logger;
  readonly providers: readonly TransferProvider[];
  /** How long a provider may take to confirm before a person is asked. */
  readonly pendingSeconds: number;
}

/** The provider that holds both ends; undefined when this worker is not bound to it. */
export function providerOf({ providers }: TransferDependencies, row: TransferRow): TransferProvider | undefined {
  return providers.find(({ accounts }) =>
    [row.source_venue, row.destination_venue].every((venue) => accounts.some(({ venue_key }) => venue_key === venue)),
  );
}

/** The transfer as its provider knows it. */
export function orderOf(row: TransferRow): TransferOrder {
  return {
    reference: row.transfer_id,
    source: { venue_key: row.source_venue, account_type: row.source_account_type },
    destination: { venue_key: row.destination_venue, account_type: row.destination_account_type },
    asset: row.asset,
    amount: row.amount,
    created_at: row.created_at,
    ...(row.provider_transfer_id === null ? {} : { provider_transfer_id: row.provider_transfer_id }),
  };
}
