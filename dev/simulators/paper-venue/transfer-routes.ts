/**
 * HTTP routes of transfers between accounts: those of an exchange, and those with which a test
 * bench reads and settles transfers.
 */
import type { Express } from 'express';
import { z } from 'zod';
import { addViews } from '../kit/http.ts';
import { SPOT } from './accounts.ts';
import { TRANSFER_ENDS } from './events.ts';
import type { FaultInjector } from './faults.ts';
import type { Ledger } from './ledger.ts';
import { read } from './read.ts';
import { suffer } from './suffer.ts';
import { transferEntries } from './transfer-views.ts';
import type { Transfers } from './transfers.ts';

const name = z.string().min(1).max(128);
const requestSchema = z.strictObject({
  client_reference: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of letters, digits, _ and -'),
  from_account: name,
  from_account_type: name.default(SPOT),
  to_account: name,
  to_account_type: name.default(SPOT),
  asset: name,
  amount: z.string().min(1).max(64),
});
const settleSchema = z.strictObject({ outcome: z.enum(TRANSFER_ENDS) });

/**
 * Adds the transfer routes to `app`. Faults affect only submit and find, never the test bench's
 * routes.
 */
export function addTransferRoutes(
  app: Express,
  parts: { readonly transfers: Transfers; readonly ledger: Ledger; readonly faults: FaultInjector },
): void {
  const { transfers, ledger, faults } = parts;
  app.post('/transfers', (request, response) =>
    suffer(faults.draw('transfer_submit'), request, async (misfortune) => {
      const view = transfers.submit(read(requestSchema, request.body), misfortune);
      return () => void response.json(view);
    }),
  );
  app.get('/transfers/:reference', (request, response) =>
    suffer(faults.draw('transfer_find'), request, async ({ deduplicate }) => {
      const view = transfers.find(request.params.reference, deduplicate);
      return () => void response.json(view);
    }),
  );
  addViews(app, {
    '/transfers': () => ({ entries: transferEntries(ledger.book.transfers.references()) }),
  });
  app.post('/transfers/:reference/settle', (request, response) => {
    response.json(
      transfers.settle(request.params.reference, read(settleSchema, request.body).outcome),
    );
  });
}
