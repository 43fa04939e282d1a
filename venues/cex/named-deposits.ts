/** Reads the deposits that a person names for a node: the exchange's own records, by their ids. */
import { unprovenClaim, type ClaimReader } from '../../domain/claim-reader.ts';
import { claimsOf } from '../../domain/claims.ts';
import type { CallOptions } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { add } from '../../domain/money.ts';
import { readConfig } from '../node-plan.ts';
import type { CexAccounts } from './accounts.ts';
import { depositObserveConfigSchema } from './config.ts';
import { CEX_DEPOSIT_OBSERVE_DESCRIPTOR, transactionOf } from './deposit-observe.ts';
import type { DepositRecord } from './dialect.ts';
import { lifetimeOf, readAsset } from './plan.ts';
import { QUESTIONS, TRANSACTION_PATTERN, type OfDeposits } from './served/protocol.ts';

/** Longest time of an answer of the process that has the keys. */
const SERVED_TIMEOUT_SECONDS = 10;

/** Returns the reader, which needs the credentials of the account. */
export function createDepositReader(accounts: CexAccounts): ClaimReader {
  return {
    action_types: CEX_DEPOSIT_OBSERVE_DESCRIPTOR.action_types,
    venues: accounts.list().map(({ venue }) => venue.venue_key),
    async read(named, signal) {
      const { venue: venue_key } = readConfig(depositObserveConfigSchema, named);
      const { action_type, output } = named;
      const transaction =
        typeof output['tx_hash'] === 'string' ? output['tx_hash'] : transactionOf(named.matched);
      if (transaction === null || !TRANSACTION_PATTERN.test(transaction))
        return unprovenClaim('not_found', 'name the transaction of the deposit in output.tx_hash');
      const found = await readDeposits(
        accounts,
        { venue_key, transaction, asset: readAsset(named), period: lifetimeOf(named) },
        { signal, requestId: 'a look at a deposit' },
      );
      const source = `cex:${venue_key}`.toLowerCase();
      const claims = claimsOf({ action_type, output, matched: null });
      const payments: JsonObject[] = [];
      for (const claim of claims) {
        if (claim.source !== source)
          return unprovenClaim('differs', `the node waits for deposits of ${source}`, { source });
        const record = found.find(({ id }) => id.toLowerCase() === claim.reference);
        if (record === undefined)
          return unprovenClaim(
            'not_found',
            `${venue_key} has no deposit ${claim.reference} of ${named.asset} in ${transaction}`,
            { references: found.slice(0, 20).map(({ id }) => id) },
          );
        const { status, exchange_status } = record;
        if (status === 'failed')
          return unprovenClaim('failed', `${record.id} was not credited: ${exchange_status}`);
        if (status === 'pending')
          return unprovenClaim('not_final', `${record.id} is not credited yet; try again later`);
        payments.push({ ...claim, total: record.amount });
      }
      return {
        ok: true,
        output: {
          tx_hash: transaction,
          received_amount: claims.reduce((sum, { amount }) => add(sum, amount), '0'),
          deposits: claims.length,
          network: found[0]?.network ?? null,
          payments,
        },
      };
    },
  };
}

/**
 * Returns the account's deposits of an asset in a transaction.
 *
 * @throws ExecutorFault `rejected` `VENUE_NOT_BOUND` for an unknown venue key, `HISTORY_TOO_OLD`.
 */
export async function readDeposits(
  accounts: CexAccounts,
  { venue_key, ...of }: OfDeposits,
  call: CallOptions,
): Promise<readonly DepositRecord[]> {
  const account = accounts.get(venue_key);
  const { dialect, served, own } = account;
  if (served === null) return dialect.findDeposits(await own(), of, call);
  const about = { accounts: [account], call, timeoutSeconds: SERVED_TIMEOUT_SECONDS };
  return (await served.ask(QUESTIONS.deposits, { venue_key, ...of }, about)).deposits;
}
