/** How the service is bound to a simulated exchange: its account, and each process's executor. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Executor } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Database } from '../../../prisma/client.ts';
import { createRequestDesk } from '../../../store/request-desk.ts';
import { parseVenueBindings } from '../../../venues/bindings.ts';
import { createCexAccounts, type CexAccounts } from '../../../venues/cex/accounts.ts';
import { openConnection } from '../../../venues/cex/client.ts';
import type { CcxtVenue } from '../../../venues/cex/config.ts';
import type { Dialect } from '../../../venues/cex/dialect.ts';
import { DIALECTS } from '../../../venues/cex/dialects/index.ts';
import { cex } from '../../../venues/cex/index.ts';
import { createCexWithdrawalExecutor } from '../../../venues/cex/withdrawal.ts';
import { configOf, whitelistOf } from '../../venues/cex/support/desk.ts';
import type { Format } from '../../venues/cex/support/format.ts';
import { FORMATS } from '../../venues/cex/support/formats/index.ts';
import { ASSET, Exchange, type ExchangeOptions } from './exchange.ts';

export const VENUE = 'exchange-main';
/** Lets the seed draw one of the exchanges. */
export const ANY = 'any';
export const EXCHANGES: readonly string[] = FORMATS.map(({ exchange }) => exchange);

/** Seconds that a call may take; where requests go one at a time, it waits for others. */
const TIMEOUT_SECONDS = { usually: 10, oneAtATime: 60 };

/** The exchange of a world, and what the service knows of it. */
export interface AtExchange {
  readonly exchange: Exchange;
  /** What the config of a withdrawal has besides its payee. */
  readonly config: JsonObject;
  /** Milliseconds from one movement's start to the next one's, on average. */
  readonly everyMs: number;
  /** The executors of one process, which shares the key's budget and turns over its database. */
  executors(db: Database): Promise<readonly Executor[]>;
  close(): void;
}

/**
 * Opens the exchange of this name; `any`: one that the seed draws. What takes real time is done
 * here and in `executors`: reading the key, and loading the library's part.
 */
export function openExchange(
  name: string,
  seed: number,
  options: Omit<ExchangeOptions, 'format' | 'dialect'>,
): AtExchange {
  const format = formatOf(name, seed);
  const dialect = DIALECTS.get(format.exchange);
  if (dialect === undefined) throw new Error(`no dialect ${format.exchange}`);
  const pace = dialect.growing_nonce ? 'oneAtATime' : 'usually';
  const folder = mkdtempSync(join(tmpdir(), 'simulated-exchange-'));
  const credentials_file = join(folder, 'main.json');
  writeFileSync(credentials_file, JSON.stringify(format.keyOf(null)), { mode: 0o600 });
  const exchange = new Exchange({ ...options, format, dialect });
  return {
    exchange,
    config: { venue: VENUE, asset: ASSET, ...configOf(format) },
    everyMs: everyMsOf(dialect),
    executors: async (db) => {
      const venue = bind(format, credentials_file, TIMEOUT_SECONDS[pace]);
      const desk = createRequestDesk(db);
      const connection = await openConnection(venue, dialect, desk, exchange.send);
      const account = {
        ...createCexAccounts([venue], desk).get(VENUE),
        own: () => Promise.resolve(connection),
      };
      const accounts: CexAccounts = {
        list: () => [account],
        get: () => account,
        served: () => [],
        close: () => Promise.resolve(),
      };
      return [createCexWithdrawalExecutor(accounts)];
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Where requests go one at a time, each uses much of the budget; where no id of ours is stored, a
 * send whose answer was lost holds up the others to its payee.
 */
function everyMsOf({ growing_nonce, search }: Dialect): number {
  if (growing_nonce) return 75_000;
  return search.by === 'baseline' ? 20_000 : 3_000;
}

function formatOf(name: string, seed: number): Format {
  const found =
    name === ANY
      ? FORMATS[seed % FORMATS.length]
      : FORMATS.find(({ exchange }) => exchange === name);
  if (found === undefined) throw new Error(`no exchange ${name}`);
  return found;
}

/** Nothing else withdraws from the account, so it is bound as exclusive. */
function bind(format: Format, credentials_file: string, timeout_seconds: number): CcxtVenue {
  const [venue] = cex.entries(
    parseVenueBindings({
      venues: [
        {
          provider: 'ccxt',
          exchange: format.exchange,
          venue_key: VENUE,
          account_role: 'master',
          account: format.books.master,
          base_url: 'http://127.0.0.1',
          exclusive: true,
          ...{ credentials_file, timeout_seconds },
          ...whitelistOf(format),
        },
      ],
    }),
  );
  if (venue === undefined) throw new Error('no binding');
  return venue;
}
