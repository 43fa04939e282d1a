/**
 * A centralized exchange with books of its own: the local exchange of the tests in memory, reached
 * by the service's own executor, dialect and client. Only the connection is simulated, which loses,
 * delays and breaks.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { add } from '../../../domain/money.ts';
import type { Dialect } from '../../../venues/cex/dialect.ts';
import type { HttpAnswer, SendHttp } from '../../../venues/cex/http.ts';
import {
  createBooks,
  newHash,
  type Books,
  type Withdrawal,
} from '../../venues/cex/support/books.ts';
import type { Format, WireAnswer } from '../../venues/cex/support/format.ts';
import type { Fault, FaultKind, OtherThanOrdered } from '../../venues/cex/support/misbehaviour.ts';
import { seenOf, serve, type Arrived } from '../../venues/cex/support/serve.ts';
import { inProcess, type Machine, type Process } from '../machine/machine.ts';
import { PAYEES, TRANSFERS } from '../payees.ts';

/** What befalls a request on its way, or at the exchange. */
export type ExchangeFault =
  | 'lost request' // it never arrives
  | 'lost answer' // it is served, and the caller does not hear of it
  | 'late request' // it arrives after a while, and the caller does not hear of it
  | Exclude<FaultKind, 'status' | 'refuse' | 'slow' | OtherThanOrdered>;

export interface ExchangeOptions {
  readonly machine: Machine;
  readonly format: Format;
  readonly dialect: Dialect;
  /** How often it ends a withdrawal that it has accepted without paying. */
  readonly refuses: number;
  /** What befalls the request under way; `isSend`: it requests a withdrawal. */
  readonly fault: (isSend: boolean) => ExchangeFault | null;
}

/** A withdrawal of the books, and whose request made it. */
export interface Sent {
  readonly withdrawal: Withdrawal;
  /** Null: no movement's, which is a contradiction. */
  readonly movement_id: string | null;
  /** Milliseconds since 1970, by the true clock. */
  readonly at: number;
}

/** A request on its way. */
interface Request extends Arrived {
  readonly movement_id: string | null;
  readonly fault: ExchangeFault | null;
}

export const ASSET = 'USDC';
const FUNDS = '1000000';
/** Seconds after which a late request arrives at the latest: within every exchange's window. */
const LATEST_SECONDS = 20;
/** The part of a dialect's `settle_seconds` that a record comes late at most. */
const LATEST_RECORD = 0.5;
/** Milliseconds that a payment takes. */
const PAYS_WITHIN_MS = 60_000;
/** Milliseconds for which the exchange is away, and for which something is switched off. */
const AWAY_MS = [2_000, 30_000] as const;
const OFF_MS = [20_000, 90_000] as const;
/** Milliseconds from a fence until whatever left is at the exchange: a call's time, and late. */
export const ARRIVES_WITHIN_MS = 100_000;

const LASTING: ReadonlySet<ExchangeFault | null> = new Set<ExchangeFault | null>([
  'suspended_between',
  'address_removed',
]);

export class Exchange {
  readonly books: Books;
  readonly sent: Sent[] = [];
  /** Called when a withdrawal was made. */
  onOrder: (() => void) | null = null;
  readonly #options: ExchangeOptions;
  /** Its clock is the true one; what it draws comes from the seed. */
  readonly #process: Process;
  #awayUntil = 0;

  constructor(options: ExchangeOptions) {
    const { format } = options;
    this.#options = options;
    this.#process = { name: format.exchange, state: 'up', skewMs: 0 };
    this.books = createBooks(format.books);
    this.books.settles = false;
    this.books.set(null, 'SPOT', ASSET, FUNDS);
    this.#open();
  }

  /** Carries a request of a simulated process to the exchange, and its answer back. */
  readonly send: SendHttp = (sent) => {
    const { pathname, search } = new URL(sent.url);
    const arrived: Arrived = {
      method: sent.method,
      target: pathname + search,
      headers: inLowerCase(sent.headers),
      body: sent.body ?? '',
    };
    const { signal } = sent.limit;
    return Promise.race([this.#carry(pathname, arrived, signal), unanswered(signal)]);
  };

  /** What the movement has had paid or will have; at most one, or there is a contradiction. */
  openOf(movementId: string): Withdrawal | null {
    const found = this.sent.find(
      ({ movement_id, withdrawal }) => movement_id === movementId && withdrawal.status !== 'failed',
    );
    return found?.withdrawal ?? null;
  }

  async #carry(path: string, arrived: Arrived, signal: AbortSignal): Promise<HttpAnswer> {
    const { machine, format, fault } = this.#options;
    const label = `${format.exchange} ${arrived.method} ${path}`;
    const isSend = arrived.method === 'POST' && path === format.paths.withdraw;
    const request = await machine.step(label, async (): Promise<Request> => {
      const movement_id = machine.current?.movement_id ?? null;
      // Its process was frozen: nothing has left, and its time is over.
      const found = signal.aborted ? 'lost request' : fault(isSend);
      const leaving = { ...arrived, movement_id, fault: found };
      if (found === 'late request') this.#arriveLater(leaving);
      return leaving;
    });
    if (request.fault === 'lost request' || request.fault === 'late request')
      return unanswered(signal);
    // It is served in its own time, whatever becomes of its caller.
    const answer = await this.#arrive(label, request);
    if (request.fault === 'lost answer') return unanswered(signal);
    return machine.step(`answer: ${label}`, async () => answerOf(answer));
  }

  #arrive(label: string, request: Request): Promise<WireAnswer | null> {
    return new Promise((resolve) =>
      this.#options.machine.post({
        process: null,
        label: `arrives: ${label}`,
        go: async () => {
          resolve(await this.#serve(request));
        },
      }),
    );
  }

  #arriveLater(request: Request): void {
    const { machine, format } = this.#options;
    machine.timer({
      process: null,
      at: machine.now + machine.dice.between(1, LATEST_SECONDS * 1_000),
      label: 'arrives late',
      go: async () => {
        machine.log(`${format.exchange}: a request arrives late`);
        await this.#serve(request);
      },
    });
  }

  /** Null: the connection is closed without an answer. */
  async #serve({ movement_id, fault, ...arrived }: Request): Promise<WireAnswer | null> {
    const { machine, format } = this.#options;
    if (machine.now < this.#awayUntil) return null;
    const { books } = this;
    const known = books.withdrawals.length;
    const restart = (ms: number): void => void (this.#awayUntil = machine.now + ms);
    const answer = await inProcess.run(this.#process, () =>
      serve({ format, books, restart }, seenOf(arrived, format), this.#misbehaviour(fault)),
    );
    for (const made of books.withdrawals.slice(known)) this.#made(made, movement_id);
    if (LASTING.has(fault)) this.#later(OFF_MS, () => this.#open());
    return answer;
  }

  #misbehaviour(fault: ExchangeFault | null): Fault | undefined {
    const { machine, dialect } = this.#options;
    if (fault === null || !isOfExchange(fault)) return undefined;
    const of = { path: '', kind: fault };
    const { settle_seconds } = dialect.withdrawals;
    switch (fault) {
      case 'restart':
      case 'done_then_restart':
        return { ...of, milliseconds: machine.dice.between(...AWAY_MS) };
      case 'late': {
        const latest = settle_seconds * LATEST_RECORD * 1_000;
        return { ...of, milliseconds: machine.dice.between(1_000, latest) };
      }
      default:
        return of;
    }
  }

  #made(withdrawal: Withdrawal, movement_id: string | null): void {
    const { machine, refuses } = this.#options;
    this.sent.push({ withdrawal, movement_id, at: machine.now });
    machine.note(`${withdrawal.id} of ${movement_id ?? 'none'}\n`);
    this.onOrder?.();
    const isRefused = machine.dice.chance(refuses);
    this.#later([0, PAYS_WITHIN_MS], () => this.#end(withdrawal, isRefused));
  }

  #end(withdrawal: Withdrawal, isRefused: boolean): void {
    // A cancel may have been faster.
    if (withdrawal.status !== 'pending') return;
    withdrawal.status = isRefused ? 'failed' : 'completed';
    withdrawal.exchange_status = null;
    if (!isRefused) withdrawal.tx = inProcess.run(this.#process, newHash);
    this.#options.machine.log(`${withdrawal.id} is ${withdrawal.status}`);
  }

  /** The open network pays out, and the address book has every payee. */
  #open(): void {
    const { books } = this;
    const { open } = this.#options.format.books.networks;
    for (const terms of books.assets.get(ASSET) ?? []) terms.enabled = terms.network === open;
    const entries = TRANSFERS.map((label) => ({
      ...{ label, tag: null, asset: ASSET, network: open, verified: true },
      address: PAYEES[label] ?? '',
    }));
    books.book.splice(0, Infinity, ...entries);
  }

  #later(range: readonly [number, number], go: () => void): void {
    const { machine } = this.#options;
    const at = machine.now + machine.dice.between(...range);
    machine.timer({ process: null, at, label: 'exchange', go });
  }
}

function isOfExchange(fault: ExchangeFault): fault is FaultKind & ExchangeFault {
  return fault !== 'lost request' && fault !== 'lost answer' && fault !== 'late request';
}

function inLowerCase(headers: Readonly<Record<string, string>>): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function answerOf(answer: WireAnswer | null): HttpAnswer {
  if (answer === null)
    throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  const { status, body, headers = {} } = answer;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, text, headers };
}

/** The caller hears nothing until its own time is over. */
function unanswered(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** What has left an account with the withdrawal. */
export function leftWith({ net_amount, fee }: Withdrawal): string {
  return add(net_amount, fee);
}
