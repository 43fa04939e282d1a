/** GET /capital-transfers, /capital-transfers/{transfer_id} and its timeline */
import type { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import { listTransfers, readTransfer, readTransferEvents } from '../../store/transfers.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { fetchPage } from '../paging.ts';
import type { Reply } from '../route.ts';
import type { transferList, transferQuery, transferTimeline, TransferView } from './schema.ts';

/** A page of transfers, newest first. */
export async function list(
  input: { readonly query: z.output<typeof transferQuery> },
  { db }: ApiDependencies,
): Promise<Reply<z.input<typeof transferList>>> {
  const { limit, cursor, ...filter } = input.query;
  const page = await fetchPage(
    { limit, cursor },
    (at) => listTransfers(db, filter, at),
    (row) => ({ created_at: row.created_at, id: row.transfer_id }),
  );
  return { status: 200, body: { capital_transfers: page.items, next_cursor: page.next_cursor } };
}

/** The transfer, or `capital_transfer_not_found`. */
export async function one(transfer_id: string, { db }: ApiDependencies): Promise<TransferView> {
  const found = await readTransfer(db, transfer_id);
  if (found === null) throw new ServiceError('capital_transfer_not_found', { context: { transfer_id } });
  return found;
}

/** Everything that happened, oldest first. */
export async function timeline(
  { params: { transfer_id } }: { readonly params: { readonly transfer_id: string } },
  { db }: ApiDependencies,
): Promise<Reply<z.input<typeof transferTimeline>>> {
  const events = await readTransferEvents(db, transfer_id);
  // Its creation is always there.
  if (events.length === 0) throw new ServiceError('capital_transfer_not_found', { context: { transfer_id } });
  return { status: 200, body: events };
}
