/** Transfers between the accounts of one master at OKX, with the master's key. */
import type { z } from 'zod';
import type { CallOptions } from '../../../../domain/executor.ts';
import { rejected } from '../../../node-plan.ts';
import { ask, find } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { ExchangeTransfer, Period, TransferRecord } from '../../dialect.ts';
import { windows } from '../../windows.ts';
import * as answers from './answers.ts';
import { ACCOUNT_OF, DAY, poolName } from './names.ts';
import { transferStatus } from './states.ts';

/** "The last 2 weeks" (docs/okx-facts.md, 9). */
export const KEPT_TRANSFERS = { longest: Number.POSITIVE_INFINITY, keeps: 14 * DAY };
/** No such transfer, or one of another `type` (docs/okx-facts.md, 1). */
const NO_SUCH_TRANSFER = '58129';

/** Returns the UUID without its dashes: OKX takes 32 letters and digits. */
export function transferId(reference: string): string {
  return reference.replaceAll('-', '').toLowerCase();
}

/**
 * As `transfer` of the dialect.
 *
 * @throws ExecutorFault `rejected` `TOPOLOGY_NOT_SUPPORTED` if OKX has no call for the transfer.
 */
export async function transfer(
  master: CexConnection,
  order: ExchangeTransfer,
  call: CallOptions,
): Promise<string> {
  const route = routeOf(order);
  if (route === null)
    throw rejected(
      'TOPOLOGY_NOT_SUPPORTED',
      "with a master's key OKX moves funds from and to the master alone, not within a sub-account; use two transfers, through the master",
    );
  const parameters = {
    ccy: order.asset,
    amt: order.amount,
    type: route.type,
    from: ACCOUNT_OF[order.source.account_type],
    to: ACCOUNT_OF[order.destination.account_type],
    subAcct: route.subAcct ?? undefined,
    clientId: transferId(order.reference),
  };
  const schema = answers.oneOf(answers.transferred);
  return (await ask(master, 'privatePostAssetTransfer', parameters, call, schema)).transId;
}

/** As `findTransfers` of the dialect. */
export async function findTransfers(
  master: CexConnection,
  order: ExchangeTransfer,
  period: Period,
  call: CallOptions,
): Promise<readonly TransferRecord[]> {
  windows(period, KEPT_TRANSFERS);
  const route = routeOf(order);
  // Nothing is ever sent without a route.
  if (route === null) return [];
  const clientId = transferId(order.reference);
  // With a wrong type OKX would not find the transfer, and answer with the same code.
  const parameters = { clientId, type: route.type };
  const found = await find(master, 'privateGetAssetTransferState', parameters, {
    absent: [NO_SUCH_TRANSFER],
    call,
    schema: answers.listOf(answers.transfer),
  });
  return (found ?? []).filter((each) => each.clientId === clientId).map(transferRecord);
}

interface Route {
  /** 0 within the master, 1 to a sub-account, 2 from one (docs/okx-facts.md, 3). */
  readonly type: string;
  readonly subAcct: string | null;
}

/**
 * Returns how OKX names the transfer; null if it has no call for it: between two sub-accounts it
 * takes no client id, and within one it takes only the sub-account's own key.
 */
function routeOf({ source, destination }: ExchangeTransfer): Route | null {
  const [from, to] = [source.sub_account, destination.sub_account];
  if (from === null && to === null) return { type: '0', subAcct: null };
  if (from === null) return { type: '1', subAcct: to };
  return to === null ? { type: '2', subAcct: from } : null;
}

function transferRecord(each: z.output<typeof answers.transfer>): TransferRecord {
  // OKX does not name the master (docs/okx-facts.md, 3).
  const sub = each.subAcct ?? '';
  return {
    id: each.transId,
    status: transferStatus(each.state),
    exchange_status: each.state,
    asset: each.ccy,
    amount: each.amt,
    source: { account: each.type === '2' ? sub : '', account_type: poolName(each.from) },
    destination: { account: each.type === '1' ? sub : '', account_type: poolName(each.to) },
  };
}
