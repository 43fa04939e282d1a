/** Reads which networks Binance has suspended. */
import type { CallOptions } from '../../../../domain/executor.ts';
import type { WithdrawalOutlook } from '../../../../domain/withdrawal-outlook.ts';
import { ask, read } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import * as answers from './answers.ts';

/**
 * As `outlook` of the dialect. The call that shows the terms of a withdrawal shows all networks,
 * but neither a time nor what is left of the account's limit.
 */
export async function readOutlook(
  connection: CexConnection,
  assets: readonly string[],
  call: CallOptions,
): Promise<WithdrawalOutlook> {
  const coins = await ask(connection, 'sapiGetCapitalConfigGetall', {}, call, answers.coins);
  const held = new Set(assets);
  const closed = coins
    .filter(({ coin }) => held.has(coin))
    .flatMap(({ coin, networkList }) =>
      networkList
        .filter((each) => !read(answers.payout, each).withdrawEnable)
        .map(({ network }) => ({ asset: coin, network, opens_at: null })),
    );
  return { quota: null, closed };
}
