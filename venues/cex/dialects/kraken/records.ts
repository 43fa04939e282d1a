/**
 * Reads the books of an account of Kraken. Transfers are not among them: how the ledger shows one
 * between accounts is unproven (docs/kraken-facts.md, 15 and 18).
 */
import type { CallOptions } from '../../../../domain/executor.ts';
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import type { CexConnection } from '../../connection.ts';
import type { Period } from '../../dialect.ts';
import { withdrawalLine } from '../../withdrawal-line.ts';
import { assetsOf, type Assets } from './assets.ts';
import { creditedAmount, readDeposits, type ListedDeposit } from './deposits.ts';
import { depositState } from './states.ts';
import { readWithdrawals } from './withdrawals.ts';

/** As `records` of the dialect. */
export async function readRecords(
  connection: CexConnection,
  { period }: { readonly period: Period },
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const assets = await assetsOf(connection, call);
  const withdrawals = await readWithdrawals(connection, { period }, call);
  const deposits = await readDeposits(connection, { asset: undefined, period }, call);
  return [
    // Kraken stores no id of ours (3).
    ...withdrawals.map((each) => withdrawalLine(each, { client_id: null, at: each.at })),
    ...deposits.map((each) => depositLine(each, assets)),
  ];
}

function depositLine(each: ListedDeposit, assets: Assets): VenueRecord {
  return {
    kind: 'deposit',
    id: each.refid,
    client_id: null,
    at: each.time,
    status: depositState(each)[0],
    asset: assets.nameOf(each.asset),
    amount: creditedAmount(each),
    fee: each.fee ?? null,
    network: null,
    address: each.info,
    tag: null,
    transaction: onlySender(each) ?? each.txid,
    source: null,
    destination: null,
  };
}

/** A sweep's own transaction is none of the sender's (6). */
function onlySender({ originators }: ListedDeposit): string | null {
  const [first = null, ...others] = new Set(originators ?? []);
  return others.length === 0 ? first : null;
}
