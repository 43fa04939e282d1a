/** Transfers between the accounts of one master at Bybit, with the master's key. */
import type { z } from 'zod';
import type { CallOptions } from '../../../../domain/executor.ts';
import { rejected } from '../../../node-plan.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type {
  ExchangeTransfer,
  Period,
  TransferEndOfExchange,
  TransferRecord,
} from '../../dialect.ts';
import { beforeSend } from '../../errors.ts';
import * as answers from './answers.ts';
import { LONGEST, readAll } from './history.ts';
import { identityOf } from './key.ts';
import { ACCOUNT_TYPE_OF, poolName } from './names.ts';
import { transferStatus } from './states.ts';

/** A row of either list; within one account, Bybit names no ends. */
export interface ListedTransfer extends z.output<typeof answers.transfer> {
  readonly fromMemberId: string;
  readonly toMemberId: string;
}

/** Returns the UUID with its dashes: whether Bybit takes one without them is unproven (4). */
export function transferId(reference: string): string {
  return reference
    .replaceAll('-', '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** Returns the id that was sent, without what the lists add around it (4); null: there is none. */
export function sentId({ transferId: listed }: { readonly transferId: string }): string | null {
  return UUID.exec(listed)?.[0].toLowerCase() ?? null;
}

/**
 * As `transfer` of the dialect. An answer without an error may still say that the transfer failed
 * or is under way: only its record shows what became of it (1.2).
 *
 * @throws ExecutorFault `rejected` `TOPOLOGY_NOT_SUPPORTED` if Bybit has no call for the transfer.
 */
export async function transfer(
  master: CexConnection,
  order: ExchangeTransfer,
  call: CallOptions,
): Promise<string> {
  const { source, destination } = order;
  const isUniversal = isBetweenAccounts(order);
  if (!isUniversal && source.sub_account !== null)
    throw rejected(
      'TOPOLOGY_NOT_SUPPORTED',
      "with a master's key Bybit moves no funds within a sub-account; use two transfers, through the master",
    );
  const parameters = {
    transferId: transferId(order.reference),
    coin: order.asset,
    amount: order.amount,
    ...(isUniversal ? await membersOf(master, order, call) : {}),
    fromAccountType: ACCOUNT_TYPE_OF[source.account_type],
    toAccountType: ACCOUNT_TYPE_OF[destination.account_type],
  };
  const method = isUniversal
    ? 'privatePostV5AssetTransferUniversalTransfer'
    : 'privatePostV5AssetTransferInterTransfer';
  const schema = answers.resultOf(answers.transferred);
  return (await ask(master, method, parameters, call, schema)).transferId;
}

/** As `findTransfers` of the dialect. */
export async function findTransfers(
  master: CexConnection,
  order: ExchangeTransfer,
  period: Period,
  call: CallOptions,
): Promise<readonly TransferRecord[]> {
  const isUniversal = isBetweenAccounts(order);
  // Nothing is ever sent within a sub-account.
  if (!isUniversal && order.source.sub_account !== null) return [];
  const id = transferId(order.reference);
  const read = isUniversal ? readUniversalTransfers : readOwnTransfers;
  const listed = await read(master, { period, transferId: id }, call);
  // Filtered here again: if Bybit ignored the filter, another transfer would count as ours.
  return listed.filter((each) => sentId(each) === id).map(transferRecord);
}

interface Wanted {
  readonly period: Period;
  /** Absent: every transfer. */
  readonly transferId?: string;
}

/** Returns the transfers between two accounts of the master (docs/bybit-facts.md, 9). */
export function readUniversalTransfers(
  master: CexConnection,
  { period, ...filter }: Wanted,
  call: CallOptions,
): Promise<readonly ListedTransfer[]> {
  const history = {
    method: 'privateGetV5AssetTransferQueryUniversalTransferList',
    list: 'list',
    record: answers.universalTransfer,
    idOf: (each: ListedTransfer) => each.transferId,
    longest: LONGEST.transfers,
    filter,
  } as const;
  return readAll<ListedTransfer>(master, history, period, call);
}

/** Returns the transfers between the pools of the master. */
export async function readOwnTransfers(
  master: CexConnection,
  { period, ...filter }: Wanted,
  call: CallOptions,
): Promise<readonly ListedTransfer[]> {
  const history = {
    method: 'privateGetV5AssetTransferQueryInterTransferList',
    list: 'list',
    record: answers.transfer,
    idOf: (each: { readonly transferId: string }) => each.transferId,
    longest: LONGEST.transfers,
    filter,
  } as const;
  const { uid } = await identityOf(master, call);
  const found = await readAll(master, history, period, call);
  return found.map((each) => ({ ...each, fromMemberId: uid, toMemberId: uid }));
}

function isBetweenAccounts({ source, destination }: ExchangeTransfer): boolean {
  return source.sub_account !== destination.sub_account;
}

/**
 * Returns both ends of a universal transfer: it names the master by its uid, too (1.14).
 *
 * @throws UnsentFault if Bybit does not show the master's uid: the transfer was not sent.
 */
async function membersOf(
  master: CexConnection,
  { source, destination }: ExchangeTransfer,
  call: CallOptions,
): Promise<{ readonly fromMemberId: number; readonly toMemberId: number }> {
  const { uid } = await beforeSend(identityOf(master, call));
  const memberOf = ({ sub_account }: TransferEndOfExchange): number => Number(sub_account ?? uid);
  return { fromMemberId: memberOf(source), toMemberId: memberOf(destination) };
}

function transferRecord(each: ListedTransfer): TransferRecord {
  return {
    id: sentId(each) ?? each.transferId,
    status: transferStatus(each.status),
    exchange_status: each.status,
    asset: each.coin,
    amount: each.amount,
    source: { account: each.fromMemberId, account_type: poolName(each.fromAccountType) },
    destination: { account: each.toMemberId, account_type: poolName(each.toAccountType) },
  };
}
