/**
 * The venue's HTTP server: the executor protocol, and the routes of an exchange and of a test
 * bench.
 */
import type { Express, Request, Response } from 'express';
import type { ExecutionResult, ExecutorPhase } from '../../../domain/executor.ts';
import {
  executionContextSchema,
  isExecutorPhase,
  submitBodySchema,
} from '../../../executors/protocol.ts';
import { addFaultRoutes } from '../kit/faults.ts';
import { addErrorRoutes, addViews, createApp } from '../kit/http.ts';
import { isVenueAccount } from './accounts.ts';
import { addAddressBookRoutes } from './address-book.ts';
import { depositAddress } from './deposits.ts';
import type { FaultInjector, Misfortune } from './faults.ts';
import { VENUE_ERRORS, VenueHttpError } from './http-error.ts';
import type { Ledger } from './ledger.ts';
import { read } from './read.ts';
import type { ChainSettings } from './settings.ts';
import { suffer } from './suffer.ts';
import { addTransferRoutes } from './transfer-routes.ts';
import type { Transfers } from './transfers.ts';
import type { Venue } from './venue.ts';
import { balanceViews, depositViews, ledgerEntries } from './views.ts';

interface ServerParts {
  readonly venue: Venue;
  readonly transfers: Transfers;
  readonly ledger: Ledger;
  readonly faults: FaultInjector;
  readonly chain: ChainSettings;
}

/** Creates the express application of the venue. Error bodies are `{detail: {error, message}}`. */
export function createServer(parts: ServerParts): Express {
  const { ledger, faults, chain } = parts;
  const app = createApp({ strict: false });

  app.use((_request, _response, next) => {
    parts.transfers.settleDue();
    next();
  });

  addViews(app, {
    '/health': () => ({ status: 'ok', open_orders: ledger.book.open().length }),
    '/ledger': () => ({ entries: ledgerEntries(ledger.book) }),
    '/balances': () => ({ balances: balanceViews(ledger.book, chain) }),
    '/deposits': () => ({ entries: depositViews(ledger.book, chain) }),
    '/faults/counts': faults.counts,
  });
  app.get('/accounts/:account/balances', (request, response) => {
    const account = accountOf(request.params.account);
    response.json({ account, balances: balanceViews(ledger.book, chain, account) });
  });

  app.get('/accounts/:account/deposit-address', (request, response) => {
    const account = accountOf(request.params.account);
    response.json({
      account,
      network: 'local',
      chain_id: chain.chainId,
      address: depositAddress(chain, account),
    });
  });
  addFaultRoutes(app, faults);
  addTransferRoutes(app, parts);
  addAddressBookRoutes(app, parts);

  app.post('/:phase', (request, response) => answerPhase(parts, request, response));
  addErrorRoutes(app, 'paper venue', VENUE_ERRORS);
  return app;
}

function accountOf(account: string): string {
  if (isVenueAccount(account)) return account;
  throw new VenueHttpError(404, 'ACCOUNT_UNKNOWN', `the venue has no account ${account}`);
}

async function answerPhase(
  { venue, transfers, faults }: ServerParts,
  request: Request,
  response: Response,
): Promise<void> {
  const phase = String(request.params['phase']);
  if (!isExecutorPhase(phase)) throw VENUE_ERRORS.refusal(404);
  await suffer(faults.draw(phase), request, async (misfortune) => {
    transfers.settleDue();
    const result = await runPhase(venue, phase, request.body, misfortune);
    return () => void (result === null ? response.status(204).end() : response.json(result));
  });
}

async function runPhase(
  venue: Venue,
  phase: ExecutorPhase,
  body: unknown,
  { deduplicate, processing_ms }: Misfortune,
): Promise<ExecutionResult | null> {
  if (phase === 'submit')
    return venue.submit(read(submitBodySchema, body), { deduplicate, processing_ms });
  const context = read(executionContextSchema, body);
  if (phase === 'preflight') return venue.preflight(context);
  if (phase === 'prepare') return venue.prepare(context);
  return venue[phase](context, deduplicate);
}
