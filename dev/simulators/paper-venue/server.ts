/**
 * The venue over HTTP: the executor protocol, and beside it what an exchange and a test bench show.
 */
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
} from 'express';
import type { ExecutionResult, ExecutorPhase } from '../../../domain/executor.ts';
import {
  executionContextSchema,
  isExecutorPhase,
  submitBodySchema,
} from '../../../executors/protocol.ts';
import { isVenueAccount } from './accounts.ts';
import { addAddressBookRoutes } from './address-book.ts';
import { depositAddress } from './deposits.ts';
import { faultsSchema, type FaultInjector, type Misfortune } from './faults.ts';
import { VenueHttpError } from './http-error.ts';
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

/** The express application of the venue. Errors are `{detail: {error, message}}`. */
export function createServer(parts: ServerParts): Express {
  const { ledger, faults, chain } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.use(express.json({ limit: '1mb', strict: false }));

  app.use((_request, _response, next) => {
    parts.transfers.settleDue();
    next();
  });

  app.get(
    '/health',
    (_request, response) =>
      void response.json({ status: 'ok', open_orders: ledger.book.open().length }),
  );
  app.get(
    '/ledger',
    (_request, response) => void response.json({ entries: ledgerEntries(ledger.book) }),
  );
  app.get(
    '/balances',
    (_request, response) => void response.json({ balances: balanceViews(ledger.book, chain) }),
  );
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
  app.get(
    '/deposits',
    (_request, response) => void response.json({ entries: depositViews(ledger.book, chain) }),
  );

  app.get('/faults', (_request, response) => void response.json(faults.current()));
  app.get('/faults/counts', (_request, response) => void response.json(faults.counts()));
  app.post('/faults', (request, response) => {
    faults.set(read(faultsSchema, request.body));
    response.json(faults.current());
  });
  app.delete('/faults', (_request, response) => {
    faults.clear();
    response.json(faults.current());
  });

  addTransferRoutes(app, parts);
  addAddressBookRoutes(app, parts);

  app.post('/:phase', (request, response) => answerPhase(parts, request, response));
  app.use(() => {
    throw new VenueHttpError(404, 'NOT_FOUND', 'the venue has no such route');
  });
  app.use(respondWithError);
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
  if (!isExecutorPhase(phase))
    throw new VenueHttpError(404, 'NOT_FOUND', 'the venue has no such route');
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

const respondWithError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const fault = error instanceof VenueHttpError ? error : foreignFault(error);
  if (fault.status === 503)
    process.stderr.write(`paper venue: ${request.method} ${request.path}: ${String(error)}\n`);
  response.status(fault.status).json({ detail: { error: fault.code, message: fault.message } });
};

/**
 * A body the parser refused is the caller's fault; anything else is most likely the chain being
 * away.
 */
function foreignFault(error: unknown): VenueHttpError {
  const status =
    typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status < 500)
    return new VenueHttpError(status, 'INVALID_REQUEST', 'the body cannot be read');
  return new VenueHttpError(503, 'VENUE_UNAVAILABLE', 'the venue cannot answer now');
}
