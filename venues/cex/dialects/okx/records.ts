/**
 * Reads the books of an account of OKX. Its text and its example contradict each other on which of
 * `after` and `before` is the older end (docs/okx-facts.md, 9); sent the wrong way round, both
 * would give an empty list. So a history is read from its newest record, which needs neither, and
 * continued with `after` alone: the next page has to start with the last record of the page before.
 */
import type { z } from 'zod';
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import { ask, type Schema } from '../../answers.ts';
import type { CexConnection, Parameters } from '../../connection.ts';
import type { Period } from '../../dialect.ts';
import { CEX_FAULTS } from '../../errors.ts';
import { readHistory } from '../../history.ts';
import { withdrawalLine } from '../../withdrawal-line.ts';
import * as answers from './answers.ts';
import { transactionOf, type ListedDeposit } from './deposits.ts';
import { DAY, isoTime, networkOf } from './names.ts';
import { depositState } from './states.ts';
import { KEPT, withdrawalRecord, type ListedWithdrawal } from './withdrawals.ts';

const PAGE = 100;
/** `asset/bills` has a month; beyond that, `asset/bills-history` has all since 2021, but later. */
const MONTH = 28 * DAY;

/** As `records` of the dialect. */
export async function readRecords(
  connection: CexConnection,
  { period, subs }: { readonly period: Period; readonly subs: readonly string[] | null },
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const withdrawals = await readBackwards(period, {
    method: 'privateGetAssetWithdrawalHistory',
    schema: answers.listOf(answers.withdrawal),
    idOf: ({ wdId }) => wdId,
    ...{ connection, call },
  });
  const deposits = await readBackwards(period, {
    method: 'privateGetAssetDepositHistory',
    schema: answers.listOf(answers.deposit),
    idOf: ({ depId }) => depId,
    ...{ connection, call },
  });
  return [
    ...withdrawals.map(lineOf),
    ...deposits.map(depositLine),
    ...(subs === null ? [] : await transfersIn(period, connection, call)),
  ];
}

interface Backwards<T> {
  readonly connection: CexConnection;
  readonly method: string;
  readonly filter?: Parameters;
  readonly schema: Schema<readonly T[]>;
  readonly idOf: (record: T) => string;
  readonly call: CallOptions;
}

/**
 * Returns the records of the period.
 *
 * @throws ExecutorFault as {@link readHistory}; `protocol` if OKX orders its history otherwise than
 *   it documents.
 */
async function readBackwards<T extends { readonly ts: number }>(
  period: Period,
  { connection, method, filter = {}, schema, idOf, call }: Backwards<T>,
): Promise<readonly T[]> {
  let oldest = Number.POSITIVE_INFINITY;
  const found = await readHistory<T>(period, {
    limits: KEPT,
    size: PAGE,
    idOf,
    read: async (_, page) => {
      const isFirst = page === 0;
      const parameters = {
        ...filter,
        limit: String(PAGE),
        ...(isFirst ? {} : { after: String(oldest + 1) }),
      };
      const records = await ask(connection, method, parameters, call, schema);
      if (!isFirst) requireContinued(records, oldest);
      oldest = Math.min(...records.map(({ ts }) => ts));
      // A page that is not full is the last one: nothing older belongs to the period.
      return records.filter(({ ts }) => ts >= period.from);
    },
  });
  return found.filter(({ ts }) => ts <= period.to);
}

/** Whether `after` itself belongs to a page is not documented for every history. */
function requireContinued(records: readonly { readonly ts: number }[], oldest: number): void {
  const isContinued = records.some(({ ts }) => ts === oldest);
  if (isContinued && records.every(({ ts }) => ts <= oldest + 1)) return;
  throw new ExecutorFault(
    'protocol',
    CEX_FAULTS.protocol,
    'the exchange continues its history otherwise than documented, so a part may be missing',
  );
}

function lineOf(each: ListedWithdrawal): VenueRecord {
  const record = withdrawalRecord(each);
  return withdrawalLine(record, {
    client_id: each.clientId,
    at: isoTime(each.ts),
    ...(record.fee_asset === undefined ? {} : { amount: record.net_amount }),
  });
}

function depositLine(each: ListedDeposit): VenueRecord {
  return {
    kind: 'deposit',
    id: each.depId,
    client_id: null,
    at: isoTime(each.ts),
    status: depositState(each.state)[0],
    asset: each.ccy,
    amount: each.amt,
    fee: null,
    network: networkOf(each.ccy, each.chain),
    address: each.to,
    // OKX shows no tag of a deposit.
    tag: null,
    transaction: transactionOf(each),
    source: null,
    destination: null,
  };
}

const FUNDING = ':SPOT';
const TRADING = ':USDT_FUTURE';
/**
 * The lines of the master's funding ledger that are transfers, and their ends. They do not name the
 * sub-account, and so neither its pool (test/venues/cex/wire/okx.json, bills).
 */
const TRANSFER_BILLS: Readonly<Record<string, Pick<VenueRecord, 'source' | 'destination'>>> = {
  '20': { source: FUNDING, destination: null },
  '21': { source: null, destination: FUNDING },
  '130': { source: TRADING, destination: FUNDING },
  '131': { source: FUNDING, destination: TRADING },
};

/**
 * Returns the transfers from and to the master's funding account, of all its sub-accounts. OKX's
 * list of transfers of sub-accounts has no client ids, and `transfer-state` is no list.
 */
async function transfersIn(
  period: Period,
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const isRecent = Date.now() - period.from <= MONTH;
  const found: z.output<typeof answers.bill>[] = [];
  for (const type of Object.keys(TRANSFER_BILLS)) {
    const bills = await readBackwards(period, {
      method: isRecent ? 'privateGetAssetBills' : 'privateGetAssetBillsHistory',
      filter: { type },
      schema: answers.listOf(answers.bill),
      idOf: ({ billId }) => billId,
      ...{ connection, call },
    });
    // Filtered here again: without the filter, every line would be a transfer.
    found.push(...bills.filter((each) => each.type === type));
  }
  return found.map(transferLine);
}

function transferLine(each: z.output<typeof answers.bill>): VenueRecord {
  const { source = null, destination = null } = TRANSFER_BILLS[each.type] ?? {};
  return {
    kind: 'transfer',
    id: each.billId,
    client_id: each.clientId,
    at: isoTime(each.ts),
    // A line of the ledger is a change of the balance that has been made.
    status: 'completed',
    asset: each.ccy,
    amount: each.balChg,
    fee: null,
    network: null,
    address: null,
    tag: null,
    transaction: each.billId,
    source,
    destination,
  };
}
