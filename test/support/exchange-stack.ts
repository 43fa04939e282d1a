/** A stack of real processes that is bound to local exchanges, one account at each. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialect } from '../../venues/cex/dialect.ts';
import { DIALECTS } from '../../venues/cex/dialects/index.ts';
import {
  ADDRESS,
  configOf,
  freshBooks,
  openDesk,
  whitelistOf,
  type Desk,
} from '../venues/cex/support/desk.ts';
import type { Format } from '../venues/cex/support/format.ts';
import { FORMATS } from '../venues/cex/support/formats/index.ts';
import { startOwnStack, type OwnStack } from './own-stack.ts';

/** What the account at each exchange holds at first, in USDC. */
export const FUNDS = '100000';

/** Addresses of the allowlist and of each exchange's book. Digits alone need no letter case. */
export const PAYEES: readonly string[] = [
  ADDRESS,
  ...['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`),
];

export interface ExchangeStack {
  readonly own: OwnStack;
  deskOf(exchange: string): Desk;
  /** Creates and approves a withdrawal of so much USDC to the payee; returns the movement's id. */
  pay(exchange: string, payee: string, amount: string): Promise<string>;
  close(): Promise<void>;
}

export interface ExchangeStackOptions {
  /** Fields of the binding at this exchange. */
  readonly binding: (format: Format) => object;
  /** Changes the exchange before a process of the service is started. */
  readonly prepare?: (desk: Desk) => void;
}

export function formatOf(exchange: string): Format {
  const found = FORMATS.find((format) => format.exchange === exchange);
  if (found === undefined) throw new Error(`no format of ${exchange}`);
  return found;
}

export function dialectOf({ exchange }: Format): Dialect {
  const found = DIALECTS.get(exchange);
  if (found === undefined) throw new Error(`no dialect of ${exchange}`);
  return found;
}

/**
 * Starts an API and a worker as processes of their own, and a local exchange for each format in
 * this process. The binding of a baseline exchange says that it is exclusive.
 */
export async function startExchangeStack(
  formats: readonly Format[],
  { binding, prepare = () => undefined }: ExchangeStackOptions,
): Promise<ExchangeStack> {
  const desks = new Map<string, Desk>();
  const deskOf = (exchange: string): Desk => {
    const desk = desks.get(exchange);
    if (desk === undefined) throw new Error(`no local exchange ${exchange}`);
    return desk;
  };
  const closeDesks = async (): Promise<void> => {
    for (const desk of desks.values()) await desk.close();
  };
  try {
    for (const format of formats) {
      const desk = await openDesk(format);
      desks.set(format.exchange, desk);
      fill(desk);
      prepare(desk);
    }
    const venuesFile = await writeVenues([...desks.values()], binding);
    const own = await startOwnStack({
      split: true,
      env: { SVC_VENUES_FILE: venuesFile },
      allow: PAYEES,
    });
    const pay = await payer(own, formats).catch(async (error: unknown) => {
      await own.close();
      throw error;
    });
    return {
      ...{ own, deskOf, pay },
      close: async () => {
        await own.close();
        await closeDesks();
      },
    };
  } catch (error) {
    await closeDesks();
    throw error;
  }
}

/** Fresh books with {@link FUNDS}, and all payees in the exchange's own book. */
function fill(desk: Desk): void {
  freshBooks(desk);
  const { books } = desk.exchange;
  books.set(null, 'SPOT', 'USDC', FUNDS);
  const [first] = books.book;
  if (first === undefined) throw new Error('the book of the exchange is empty');
  for (const [index, address] of PAYEES.slice(1).entries())
    books.book.push({ ...first, label: `payee-${String(index)}`, address });
}

async function writeVenues(
  desks: readonly Desk[],
  binding: ExchangeStackOptions['binding'],
): Promise<string> {
  const venues = desks.map(({ exchange: { format, url }, folder }) => ({
    provider: 'ccxt',
    exchange: format.exchange,
    base_url: url,
    venue_key: venueOf(format),
    account_role: 'master',
    account: format.books.master,
    credentials_file: join(folder, 'main.json'),
    exclusive: dialectOf(format).search.by === 'baseline',
    ...whitelistOf(format),
    ...binding(format),
  }));
  const [first] = desks;
  if (first === undefined) throw new Error('no exchange to bind');
  const file = join(first.folder, 'venues.json');
  await writeFile(file, JSON.stringify({ venues }));
  return file;
}

const venueOf = ({ exchange }: Format): string => `${exchange}-main`;

/** Stores a template for each exchange and payee. */
async function payer(own: OwnStack, formats: readonly Format[]): Promise<ExchangeStack['pay']> {
  const keyOf = (exchange: string, payee: string): string =>
    `test/out-of-${exchange}-${String(PAYEES.indexOf(payee))}`;
  for (const format of formats)
    for (const payee of PAYEES)
      await own.api.expect(201, 'POST', '/plan-templates', {
        template_key: keyOf(format.exchange, payee),
        version: 1,
        name: `Out of ${format.exchange}`,
        edges: [],
        nodes: [withdrawalNode(format, payee)],
        completion_policy: { completion_assurance: 'provider_completed' },
      });
  return async (exchange, payee, amount) => {
    const movement = await own.api.create(keyOf(exchange, payee), { amount });
    await own.api.approve(movement);
    return movement.movement_id;
  };
}

function withdrawalNode(format: Format, payee: string): object {
  return {
    node_key: 'out',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    has_side_effect: true,
    executor_selector: { action_type: 'cex_withdrawal', provider: 'ccxt' },
    config: {
      venue: venueOf(format),
      asset: 'USDC',
      destination_address: payee,
      ...configOf(format),
    },
    // Without `max_attempts`, so that silence before the send costs no attempt.
    retry_policy: { initial_interval_seconds: 0.2, max_interval_seconds: 2 },
  };
}

/**
 * Makes the request budgets of all keys whole again, ten times a second: the service has the
 * requests of an account with far higher limits. Stops after a 429 remain.
 */
export function wholeBudgets({ query }: OwnStack): { stop(): Promise<void> } {
  let isOn = true;
  const work = (async (): Promise<void> => {
    while (isOn) {
      await query('UPDATE request_desks SET whole_at = svc_now() WHERE whole_at > svc_now()');
      await sleep(100);
    }
  })();
  // Reported by `stop`.
  work.catch(() => undefined);
  return {
    stop: async () => {
      isOn = false;
      await work;
    },
  };
}
