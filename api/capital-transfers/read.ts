/** GET /capital-transfers, /capital-transfers/{transfer_id} and its timeline */
import type { z } from 'zod';
import { transferAttention } from '../../domain/capital-transfers/attention.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  listTransfers,
  readTransfer,
  readTransferEvents,
  type TransferRecord,
} from '../../store/capital-transfers.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { fetchPage, splitPage } from '../http/paging.ts';
import { shown, withoutSecretsInMessage } from '../redact.ts';
import type { Reply } from '../http/route.ts';
import type { transferList, transferQuery, transferTimeline, TransferView } from './schema.ts';

/** Returns a page of transfers, newest first. */
export async function list(
  input: { readonly query: z.output<typeof transferQuery> },
  { db, redact }: ApiDependencies,
): Promise<Reply<z.input<typeof transferList>>> {
  const [pageQuery, filter] = splitPage(input.query);
  const page = await fetchPage(
    pageQuery,
    (at) => listTransfers(db, filter, at),
    (row) => ({ created_at: row.created_at, id: row.transfer_id }),
  );
  return {
    status: 200,
    body: {
      capital_transfers: page.items.map((row) => toView(row, redact)),
      next_cursor: page.next_cursor,
    },
  };
}

/** Returns the transfer, or throws `capital_transfer_not_found`. */
export async function one(
  transfer_id: string,
  { db, redact }: ApiDependencies,
): Promise<TransferView> {
  const found = await readTransfer(db, transfer_id);
  if (found === null)
    throw new ServiceError('capital_transfer_not_found', { context: { transfer_id } });
  return toView(found, redact);
}

/** Returns the transfer as responses show it. Its error is a provider's text, so redacted. */
export function toView(
  { stuck_run, clock_wait, ...row }: TransferRecord,
  redact: ApiDependencies['redact'],
): TransferView {
  const error_message = withoutSecretsInMessage(row.error_message, redact);
  const attention = transferAttention({ ...row, error_message, stuck_run, clock_wait });
  return {
    ...row,
    error_message,
    attention: attention && {
      ...attention,
      last_answer: withoutSecretsInMessage(attention.last_answer, redact),
      actions: [...attention.actions],
    },
  };
}

/** Returns all events of the transfer, oldest first. */
export async function timeline(
  { params: { transfer_id } }: { readonly params: { readonly transfer_id: string } },
  { db, redact }: ApiDependencies,
): Promise<Reply<z.input<typeof transferTimeline>>> {
  const events = await readTransferEvents(db, transfer_id);
  // Every transfer has an event of its creation.
  if (events.length === 0)
    throw new ServiceError('capital_transfer_not_found', { context: { transfer_id } });
  return { status: 200, body: events.map((event) => ({ ...event, ...shown(event, redact) })) };
}
