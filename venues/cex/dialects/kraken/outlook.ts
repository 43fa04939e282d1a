/** Reads which assets Kraken has suspended. */
import type { CallOptions } from '../../../../domain/executor.ts';
import type { WithdrawalOutlook } from '../../../../domain/withdrawal-outlook.ts';
import type { CexConnection } from '../../connection.ts';
import { readAssets } from './assets.ts';
import { paysOut } from './withdrawals.ts';

/**
 * As `outlook` of the dialect. Kraken shows no suspension of a single network
 * (docs/kraken-facts.md, 9), and what is left to withdraw only for a label of its book (5).
 */
export async function readOutlook(
  connection: CexConnection,
  assets: readonly string[],
  call: CallOptions,
): Promise<WithdrawalOutlook> {
  const listed = await readAssets(connection, call);
  const closed = assets.filter((name) => {
    const asset = listed.find(name);
    return asset !== null && !paysOut(asset);
  });
  return { quota: null, closed: closed.map((asset) => ({ asset, network: null, opens_at: null })) };
}
