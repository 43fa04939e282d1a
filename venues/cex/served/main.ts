/**
 * Serves one exchange account, and the sub-accounts of a master, from a process of its own:
 * `node dist/executor.js --venue okx-main --venues-file keys/venues.json --token-file keys/token`.
 * It opens no database and no Temporal. See docs/processes.md.
 */
import { parseArgs } from 'node:util';
import { serveRoutes } from '../../../executor-kit/http.ts';
import { lockName } from '../../../executor-kit/lock.ts';
import { fail, stopOnSignal } from '../../../executor-kit/until-signal.ts';
import { environment } from '../../../platform/config.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { loadVenueBindings } from '../../bindings.ts';
import type { VenueEntry } from '../../entry.ts';
import { createCexAccounts } from '../accounts.ts';
import type { CcxtVenue } from '../config.ts';
import { readCredentials } from '../credentials.ts';
import { cex } from '../index.ts';
import { servedRoutes } from './server.ts';

const USAGE =
  'Usage: executor --venue <venue_key> --token-file <path> [--venues-file <path>] [--port <port>] [--host <address>]';
/** An earlier process with the same key may still be ending. */
const LOCK_WAIT_MS = 10_000;
/** Longer than one request to an exchange: a stop cuts no answer off. */
const GRACE_MS = 65_000;

async function main(): Promise<void> {
  const { venue, venuesFile, tokenFile, host, port } = readOptions();
  const venues = await accountsOf(venue, venuesFile);
  const unlocked = await Promise.all(
    venues.flatMap(({ credentials_file }) =>
      credentials_file === undefined ? [] : [lockKey(credentials_file)],
    ),
  );
  // The only process of these keys, so it alone keeps their budget and nonces.
  const accounts = createCexAccounts(venues, createLocalRequestDesk());
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const served = await serveRoutes(servedRoutes(accounts, log), {
    port,
    host,
    authTokenFile: tokenFile,
    graceMs: GRACE_MS,
    log,
  });
  stopOnSignal(async () => {
    await served.stop();
    for (const unlock of unlocked) unlock();
  });
  const serves = venues.map(({ venue_key }) => venue_key);
  process.stdout.write(`${JSON.stringify({ listening: served.url, venues: serves })}\n`);
}

/** Locks the API key itself, since a copy of its file would have another path. */
async function lockKey(file: string): Promise<() => void> {
  const { api_key } = await readCredentials(file);
  const problem = `another executor process is using the key in ${file}`;
  return lockName(`api key ${api_key.reveal()}`, LOCK_WAIT_MS, problem);
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      venue: { type: 'string' },
      'venues-file': { type: 'string', default: environment()['SVC_VENUES_FILE'] ?? '' },
      'token-file': { type: 'string', default: '' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '0' },
    },
  });
  const { venue = '', host, 'venues-file': venuesFile, 'token-file': tokenFile } = values;
  const port = Number(values.port);
  if (venue === '' || venuesFile === '' || !Number.isInteger(port)) throw new Error(USAGE);
  // Whoever may call it can send, so it never listens without a token.
  if (tokenFile === '') throw new Error(`--token-file is missing. ${USAGE}`);
  return { venue, venuesFile, tokenFile, host, port };
}

/** Returns the account and its sub-accounts; reads no other key of the file. */
async function accountsOf(venueKey: string, file: string): Promise<readonly CcxtVenue[]> {
  const isUsed = (entry: VenueEntry): boolean =>
    cex
      .entries([entry])
      .some(({ venue_key, master }) => venue_key === venueKey || master === venueKey);
  const found = cex.entries(await loadVenueBindings(file, { secrets: 'checked', isUsed }));
  const account = found.find(({ venue_key }) => venue_key === venueKey);
  if (account === undefined) throw new Error(`${venueKey} is not an exchange account of ${file}`);
  if (account.master !== undefined)
    throw new Error(`${venueKey} is served with its master: --venue ${account.master}`);
  if (account.credentials_file === undefined)
    throw new Error(
      `${venueKey} has no credentials_file in ${file}: name the file of this process, not that of the service`,
    );
  return found;
}

main().catch(fail);
