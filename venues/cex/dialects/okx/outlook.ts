/** Reads which chains OKX has suspended, and what is left of the account's quota. */
import type { CallOptions } from '../../../../domain/executor.ts';
import { compare } from '../../../../domain/money.ts';
import type { WithdrawalOutlook, WithdrawalQuota } from '../../../../domain/withdrawal-outlook.ts';
import { ask, read } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import * as answers from './answers.ts';
import { isoTime, networkOf } from './names.ts';
import { quotaOf } from './withdrawals.ts';

/** As `outlook` of the dialect: one call shows both for every chain (docs/okx-facts.md, 6). */
export async function readOutlook(
  connection: CexConnection,
  assets: readonly string[],
  call: CallOptions,
): Promise<WithdrawalOutlook> {
  const schema = answers.listOf(answers.currency);
  const listed = await ask(connection, 'privateGetAssetCurrencies', {}, call, schema);
  const held = new Set(assets);
  const chains = listed
    .filter(({ ccy }) => held.has(ccy))
    .map((each) => ({ ccy: each.ccy, chain: each.chain, ...read(answers.payout, each) }));
  const closed = chains
    .filter(({ canWd }) => !canWd)
    .map(({ ccy, chain, wdEstOpenTime }) => ({
      asset: ccy,
      network: networkOf(ccy, chain) ?? chain,
      opens_at: wdEstOpenTime === null ? null : isoTime(wdEstOpenTime),
    }));
  return { quota: sameIn(chains.map(quotaOf)), closed };
}

/**
 * Returns the quota if all chains show the same. That it is one for the whole account is not
 * documented, so figures that differ are none of the account.
 */
function sameIn(quotas: readonly (WithdrawalQuota | null)[]): WithdrawalQuota | null {
  const [first = null, ...others] = quotas;
  if (first === null) return null;
  const isSame = others.every((other) => other !== null && compare(other.left, first.left) === 0);
  return isSame ? first : null;
}
