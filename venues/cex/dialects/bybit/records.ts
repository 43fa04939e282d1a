/** Reads the books of an account of Bybit. */
import type { CallOptions } from '../../../../domain/executor.ts';
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import type { CexConnection } from '../../connection.ts';
import type { Period } from '../../dialect.ts';
import { withdrawalLine } from '../../withdrawal-line.ts';
import { readChainDeposits, readInternalDeposits, type ListedDeposit } from './deposits.ts';
import { identityOf } from './key.ts';
import { isoTime, poolName } from './names.ts';
import { transferStatus } from './states.ts';
import {
  readOwnTransfers,
  readUniversalTransfers,
  sentId,
  type ListedTransfer,
} from './transfers.ts';
import { readWithdrawals } from './withdrawals.ts';

const SECOND = 1_000;

/** As `records` of the dialect. A sub-account has no withdrawals (docs/bybit-facts.md, 9). */
export async function readRecords(
  connection: CexConnection,
  { period, subs }: { readonly period: Period; readonly subs: readonly string[] | null },
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const of = { period };
  const deposits = [
    ...(await readChainDeposits(connection, of, call)),
    ...(await readInternalDeposits(connection, of, call)),
  ];
  const made =
    subs === null
      ? []
      : [
          // Bybit shows no id of ours (4). The amount is by the plain reading of `amount`; section
          // 18.3 has the other one.
          ...(await readWithdrawals(connection, of, call)).map((each) =>
            withdrawalLine(each, { client_id: null, at: each.at }),
          ),
          ...(await transfersOf(connection, { period, subs }, call)),
        ];
  const lines = [...made, ...deposits.map((each) => depositLine(each, period))];
  return lines.filter(({ at }) => isWithin(Date.parse(at), period));
}

/** The lists are read a second beyond the period, whose start may be within a second of theirs. */
function isWithin(time: number, { from, to }: Period): boolean {
  return time >= Math.floor(from / SECOND) * SECOND && time <= to;
}

function depositLine(each: ListedDeposit, { to }: Period): VenueRecord {
  return {
    kind: 'deposit',
    id: each.id,
    client_id: null,
    // Without a time it is still under way.
    at: isoTime(each.at ?? Math.min(to, Date.now())),
    status: each.status,
    asset: each.asset,
    amount: each.amount,
    fee: each.fee,
    network: each.network,
    address: each.address,
    tag: each.tag,
    transaction: each.transaction === '' ? null : each.transaction,
    source: null,
    destination: null,
  };
}

/** Returns the transfers that the master made or received, and those of its bound sub-accounts. */
async function transfersOf(
  master: CexConnection,
  { period, subs }: { readonly period: Period; readonly subs: readonly string[] },
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const { uid } = await identityOf(master, call);
  const bound = [uid, ...subs];
  const listed = [
    ...(await readOwnTransfers(master, { period }, call)),
    ...(await readUniversalTransfers(master, { period }, call)),
  ];
  return listed
    .filter((each) => bound.includes(each.fromMemberId) || bound.includes(each.toMemberId))
    .map((each) => transferLine(each, uid));
}

function transferLine(each: ListedTransfer, uid: string): VenueRecord {
  const end = (member: string, accountType: string): string =>
    `${member === uid ? '' : member}:${poolName(accountType)}`;
  return {
    kind: 'transfer',
    id: each.transferId,
    client_id: sentId(each),
    at: isoTime(each.timestamp),
    status: transferStatus(each.status),
    asset: each.coin,
    amount: each.amount,
    fee: null,
    network: null,
    address: null,
    tag: null,
    transaction: each.transferId,
    source: end(each.fromMemberId, each.fromAccountType),
    destination: end(each.toMemberId, each.toAccountType),
  };
}
