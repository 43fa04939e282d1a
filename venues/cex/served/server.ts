/**
 * What the process with the keys of exchange accounts serves: the phases of its executors, and the
 * questions of `protocol.ts`. It trusts the service in what was approved, and checks all else.
 */
import type { z } from 'zod';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorPhase,
  type SubmitJournal,
} from '../../../domain/executor.ts';
import {
  providerOf,
  type TransferOrder,
  type TransferProvider,
} from '../../../domain/capital-transfers/provider.ts';
import { Rejected } from '../../../executor-kit/answers.ts';
import type { Reply, Route, RouteCall, Routes } from '../../../executor-kit/http.ts';
import {
  executionContextSchema,
  isExecutorPhase,
  NOT_AFTER_HEADER,
  parseResult,
  submitBodySchema,
} from '../../../executors/protocol.ts';
import { issuesLine } from '../../../platform/issues.ts';
import { rejected } from '../../node-plan.ts';
import { createCexTransfers } from '../account-transfers.ts';
import type { CexAccounts } from '../accounts.ts';
import { createCexBalances } from '../balances.ts';
import { exchangeClocks } from '../clock.ts';
import { createCexExecutors } from '../executors.ts';
import { readDeposits } from '../named-deposits.ts';
import { readAddressBook, readVenueRecords } from '../records.ts';
import { readAsset } from '../plan.ts';
import {
  ACCOUNTS_HEADER,
  accountText,
  PASSED,
  QUESTIONS,
  RECORDS_TOO_MANY,
  statedFault,
  type Question,
} from './protocol.ts';
import { createSendGuard, type SendGuard } from './send-guard.ts';

/** The exchange keeps the state of a send, so no executor of exchanges reads the journal. */
const NO_JOURNAL: SubmitJournal = {
  transactions: () => Promise.resolve([]),
  held: () => Promise.resolve(null),
  accepted: () => Promise.resolve(),
  releaseNonce: () => Promise.resolve(false),
  displaced: () => Promise.resolve(false),
};

interface Serving {
  readonly accounts: CexAccounts;
  readonly guard: SendGuard;
  /** Writes a line about each send. It holds no address and no secret. */
  log(line: string): void;
}

/** Returns the routes of a process that has the keys of these accounts. */
export function servedRoutes(accounts: CexAccounts, log: (line: string) => void): Routes {
  const serving: Serving = { accounts, guard: createSendGuard(), log };
  const executors = new Map(
    createCexExecutors(accounts).map((each) => [each.descriptor.executor_key, each]),
  );
  const questions = new Map(questionRoutes(serving));
  const up: Route = {
    method: 'GET',
    answer: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
  };
  return (path) => {
    const [first, key = '', phase = '', ...rest] = path;
    if (first !== 'executors')
      return path.join('/') === 'health' ? up : questions.get(path.join('/'));
    const executor = executors.get(key);
    if (executor === undefined || rest.length > 0) return undefined;
    if (phase === 'health') return healthRoute(executor);
    return isExecutorPhase(phase) ? phaseRoute(serving, executor, phase) : undefined;
  };
}

function healthRoute(executor: Executor): Route {
  return {
    method: 'GET',
    answer: (_, { signal }) =>
      stated(async () => ({ status: 200, body: await executor.health({ signal }) })),
  };
}

function phaseRoute(serving: Serving, executor: Executor, phase: ExecutorPhase): Route {
  return {
    method: 'POST',
    answer: (body, call) =>
      stated(async () => {
        const result =
          phase === 'submit'
            ? await submit(serving, executor, body, call)
            : await runPhase(serving, { executor, phase, body }, call);
        return { status: 200, body: result === null ? PASSED : parseResult(phase, result) };
      }),
  };
}

async function submit(
  serving: Serving,
  executor: Executor,
  body: unknown,
  call: RouteCall,
): Promise<ExecutionResult> {
  const { context, prepared_action } = read(submitBodySchema, body);
  checkAccounts(serving, venuesOf(context), call);
  const { executor_key, same_key_safe } = executor.descriptor;
  const send = { name: `${executor_key} ${context.idempotency_key}`, same_key_safe };
  return sendOnce(serving, send, call, (options) =>
    executor.submit({ context, prepared_action, journal: NO_JOURNAL }, options),
  );
}

function runPhase(
  serving: Serving,
  {
    executor,
    phase,
    body,
  }: {
    readonly executor: Executor;
    readonly phase: Exclude<ExecutorPhase, 'submit'>;
    readonly body: unknown;
  },
  call: RouteCall,
): Promise<ExecutionResult | null> {
  const context = read(executionContextSchema, body);
  checkAccounts(serving, venuesOf(context), call);
  const options = optionsOf(call);
  switch (phase) {
    case 'preflight':
      return executor.preflight(context, options);
    case 'prepare':
      return executor.prepare(context, options);
    case 'observe':
      return executor.observe(context, options, NO_JOURNAL);
    case 'recover':
      return executor.recover(context, options, NO_JOURNAL);
    case 'cancel':
      return executor.cancel(context, options);
  }
}

function questionRoutes(serving: Serving): readonly (readonly [string, Route])[] {
  const { accounts } = serving;
  const fetchers = new Map(createCexBalances(accounts).map((each) => [each.venue_key, each]));
  const clocks = exchangeClocks(accounts);
  const providers = createCexTransfers(accounts);
  return [
    route(serving, QUESTIONS.balances, async ({ venue_key }, call) =>
      mustServe(fetchers.get(venue_key), venue_key).fetch(withTimeToAnswer(call)),
    ),
    route(serving, QUESTIONS.submitTransfer, async ({ order }, call) => {
      const provider = providerFor(providers, order);
      const { same_key_safe } = provider;
      const send = { name: `transfer ${order.reference}`, same_key_safe };
      const answer = await sendOnce(serving, send, call, (options) =>
        provider.submit(order, options),
      );
      return { answer };
    }),
    route(serving, QUESTIONS.findTransfer, async ({ order }, call) => ({
      answer: await providerFor(providers, order).find(order, call),
    })),
    route(serving, QUESTIONS.addressBook, async ({ venue_key }, call) => ({
      entries: await readAddressBook(accounts, venue_key, call),
    })),
    route(serving, QUESTIONS.records, async ({ venue_key, period }, call) =>
      withinLimit({ records: await readVenueRecords(accounts, venue_key, period, call) }),
    ),
    route(serving, QUESTIONS.deposits, async ({ venue_key, ...of }, call) => ({
      deposits: await readDeposits(
        accounts,
        { venue_key, ...of, asset: readAsset(of) },
        optionsOf(call),
      ),
    })),
    route(serving, QUESTIONS.clock, async ({ venue_key }, call) => ({
      exchange: Math.round(await mustServe(clocks[venue_key], venue_key).read(call.signal)),
      process: Date.now(),
    })),
  ];
}

/** Longest fetch of balances: the service waits for 10 s. */
const FETCH_WITHIN_MS = 8_000;

/** Ends the fetch before its caller gives up, since pools must not be lost with a slow outlook. */
function withTimeToAnswer(call: RouteCall): CallOptions {
  const left = (lastMoment(call) ?? Infinity) - Date.now();
  const within = Math.max(0, Math.floor(Math.min(FETCH_WITHIN_MS, left * 0.8)));
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(within)]);
  return { ...optionsOf(call), signal };
}

function venuesOf({ config }: ExecutionContext): readonly unknown[] {
  return [config['venue'], config['destination_venue']];
}

/** Returns the route of a question about accounts, which the caller must name correctly. */
function route<Request extends { readonly venue_key: string }, Answer>(
  serving: Serving,
  { path, request }: Question<Request, Answer>,
  answer: (request: Request, call: RouteCall) => Promise<NoInfer<Answer>>,
): readonly [string, Route] {
  return [
    path,
    {
      method: 'POST',
      answer: (body, call) =>
        stated(async () => {
          const asRead = read(request, body);
          checkAccounts(serving, [asRead.venue_key, ...endsOf(asRead)], call);
          return { status: 200, body: await answer(asRead, call) };
        }),
    },
  ];
}

/** Returns the venue keys of both ends of a transfer's order; empty for other questions. */
function endsOf(request: object): readonly string[] {
  const { order } = request as { readonly order?: TransferOrder };
  return order === undefined ? [] : [order.source.venue_key, order.destination.venue_key];
}

/**
 * Throws unless the process serves the first account, and the caller means the same accounts as
 * this process. An unknown one among the others is left to what needs it.
 *
 * @throws ExecutorFault `rejected` `VENUE_NOT_BOUND`, `VENUE_MISMATCH`.
 */
function checkAccounts(
  { accounts }: Serving,
  [first, ...others]: readonly unknown[],
  { headers }: RouteCall,
): void {
  const meant = String(headers[ACCOUNTS_HEADER]).split(' ');
  const bound = accounts.list().filter(({ venue }) => others.includes(venue.venue_key));
  for (const account of [accounts.get(String(first)), ...bound]) {
    if (meant.includes(accountText(account))) continue;
    throw rejected(
      'VENUE_MISMATCH',
      `${account.venue.venue_key} is not the same at the process that serves it: exchange, sandbox, account_role, account, master, exclusive and withdrawal_whitelist must be the same in both venues files`,
    );
  }
}

/** Runs a send whose caller says until when it waits; refuses one that has arrived before. */
async function sendOnce<T extends object>(
  { guard, log }: Serving,
  { name, same_key_safe }: { readonly name: string; readonly same_key_safe: boolean },
  call: RouteCall,
  send: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const until = lastMoment(call);
  if (until === null)
    throw new Rejected('INVALID_REQUEST', `a send needs the header ${NOT_AFTER_HEADER}`, 400);
  const note = (outcome: string): void =>
    log(JSON.stringify({ at: new Date().toISOString(), send: name, outcome }));
  if (!same_key_safe) guard(name, until);
  note('started');
  try {
    const result = await send(optionsOf(call));
    note(outcomeOf(result));
    return result;
  } catch (error) {
    note(error instanceof ExecutorFault ? `${error.kind} ${error.code}` : 'fault');
    throw error;
  }
}

/** Returns until when the caller waits, in milliseconds since 1970; null if it does not say so. */
function lastMoment({ headers }: RouteCall): number | null {
  const until = Date.parse(String(headers[NOT_AFTER_HEADER]));
  return Number.isNaN(until) ? null : until;
}

/** Returns the state that a phase or a transfer reported, and the exchange's id of it. */
function outcomeOf(result: object): string {
  const { next_state, status, external_ref, provider_transfer_id } = result as Readonly<
    Record<string, unknown>
  >;
  return [next_state ?? status, external_ref ?? provider_transfer_id]
    .filter((each) => typeof each === 'string')
    .join(' ');
}

function providerFor(
  providers: readonly TransferProvider[],
  { source, destination }: TransferOrder,
): TransferProvider {
  const found = providerOf(providers, {
    provider: 'ccxt',
    source_venue: source.venue_key,
    destination_venue: destination.venue_key,
  });
  return mustServe(found, `${source.venue_key} or ${destination.venue_key}`);
}

function mustServe<T>(found: T | undefined, what: string): T {
  if (found !== undefined) return found;
  throw rejected('VENUE_NOT_BOUND', `${what} is not an exchange account of this process`);
}

/** Throws `RECORDS_TOO_MANY` if the answer is too long: the caller then divides its period. */
function withinLimit<T extends object>(body: T): T {
  if (Buffer.byteLength(JSON.stringify(body)) <= QUESTIONS.records.limitBytes) return body;
  throw new ExecutorFault(
    'protocol',
    RECORDS_TOO_MANY,
    'the records of the period do not fit into one answer: choose a shorter period',
  );
}

/** Faults are answers of their own, so that the service has them as if it had called itself. */
async function stated(work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExecutorFault) return statedFault(error);
    throw error;
  }
}

function optionsOf({ signal, requestId, notAfter }: RouteCall): CallOptions {
  return {
    signal,
    ...(requestId === undefined ? {} : { requestId }),
    ...(notAfter === undefined ? {} : { notAfter }),
  };
}

/** Not a stated fault: that a request cannot be read proves nothing about an earlier one. */
function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new Rejected('INVALID_REQUEST', issuesLine(parsed.error, { whole: 'body' }), 400);
}
