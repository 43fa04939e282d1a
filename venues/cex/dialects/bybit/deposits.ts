/** Finds deposits at Bybit, which has a list of those on chain and one of those within it (9). */
import type { z } from 'zod';
import { plainTransaction } from '../../../../domain/chains/transaction.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { subtract } from '../../../../domain/money.ts';
import type { CexConnection } from '../../connection.ts';
import type { DepositRecord, Period } from '../../dialect.ts';
import * as answers from './answers.ts';
import { LONGEST, readAll } from './history.ts';
import { networkOf } from './names.ts';
import { depositState, internalDepositState } from './states.ts';

type ChainDeposit = z.output<typeof answers.deposit>;
type InternalDeposit = z.output<typeof answers.internalDeposit>;

/** A deposit of either list in the service's words. */
export interface ListedDeposit extends DepositRecord {
  readonly fee: string | null;
  readonly address: string | null;
  readonly tag: string | null;
  /** Milliseconds since 1970; null: it is not credited yet, and Bybit shows no other time. */
  readonly at: number | null;
}

interface Wanted {
  readonly period: Period;
  /** Absent: every asset. */
  readonly asset?: string;
}

/**
 * As `findDeposits` of the dialect. How Bybit's filter compares a hash is unproven (18.13), so the
 * deposits of the asset are compared here.
 */
export async function findDeposits(
  connection: CexConnection,
  of: { readonly transaction: string; readonly asset: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly DepositRecord[]> {
  const expected = plainTransaction(of.transaction);
  for (const read of [readChainDeposits, readInternalDeposits]) {
    const found = (await read(connection, of, call)).filter(
      (each) => each.asset === of.asset && plainTransaction(each.transaction) === expected,
    );
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns the deposits in the period that came over a chain. */
export async function readChainDeposits(
  connection: CexConnection,
  { asset, period }: Wanted,
  call: CallOptions,
): Promise<readonly ListedDeposit[]> {
  const history = {
    method: 'privateGetV5AssetDepositQueryRecord',
    list: 'rows',
    record: answers.deposit,
    idOf,
    longest: LONGEST.records,
    filter: { coin: asset },
  } as const;
  return (await readAll(connection, history, period, call)).map(chainDeposit);
}

/** Returns the deposits in the period that other accounts of Bybit made. */
export async function readInternalDeposits(
  connection: CexConnection,
  { asset, period }: Wanted,
  call: CallOptions,
): Promise<readonly ListedDeposit[]> {
  const history = {
    method: 'privateGetV5AssetDepositQueryInternalRecord',
    list: 'rows',
    record: answers.internalDeposit,
    idOf: ({ id }: InternalDeposit) => id,
    longest: LONGEST.records,
    filter: { coin: asset },
  } as const;
  return (await readAll(connection, history, period, call)).map(internalDeposit);
}

/** A record of before the ids is named by its place on the chain. */
function idOf({ id, txID, txIndex }: ChainDeposit): string {
  return id ?? `${txID ?? ''}:${txIndex ?? ''}`;
}

function chainDeposit(each: ChainDeposit): ListedDeposit {
  const [status, exchange_status] = depositState(each);
  return {
    id: idOf(each),
    status,
    exchange_status,
    asset: each.coin,
    network: networkOf(each.chain),
    // Whether `amount` is without the fee is unproven (18.15), so a fee is subtracted: less is
    // moved on than arrived, never more.
    amount: answers.notBelowZero(subtract(each.amount, each.depositFee ?? '0')),
    transaction: each.txID ?? '',
    fee: each.depositFee,
    address: each.toAddress,
    tag: each.tag,
    at: each.successAt,
  };
}

function internalDeposit(each: InternalDeposit): ListedDeposit {
  const [status, exchange_status] = internalDepositState(each);
  return {
    id: each.id,
    status,
    exchange_status,
    asset: each.coin,
    network: null,
    amount: each.amount,
    transaction: each.txID ?? '',
    fee: null,
    // It shows who sent it, masked, not an address of ours.
    address: null,
    tag: null,
    at: each.createdTime,
  };
}
