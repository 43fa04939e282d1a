/** Reads the spot account of Kraken (docs/kraken-facts.md, 14). */
import type { z } from 'zod';
import type { PoolBalance } from '../../../../domain/balances.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { add, compare, subtract } from '../../../../domain/money.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { BalanceAccountType } from '../../dialect.ts';
import * as answers from './answers.ts';
import { assetsOf, type Assets } from './assets.ts';

type Figures = z.output<typeof answers.balances>[string];

/** What an account has of one asset. Figures may be below zero. */
interface Sum {
  readonly total: string;
  readonly available: string;
  readonly withdrawable: string;
  /** The part that earns rewards by itself; null: none. */
  readonly auto_earn: string | null;
}

const NOTHING: Sum = { total: '0', available: '0', withdrawable: '0', auto_earn: null };
/** "Auto-earn" balances are used through their base asset, unlike those of all other suffixes. */
const AUTO_EARN = 'F';

/** As `balances` of the dialect. */
export async function readBalances(
  connection: CexConnection,
  types: readonly BalanceAccountType[],
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  if (!types.includes('SPOT')) return [];
  const assets = await assetsOf(connection, call);
  const schema = answers.resultOf(answers.balances);
  const found = await ask(connection, 'privatePostBalanceEx', {}, call, schema);
  const sums = new Map<string, Sum>();
  for (const [name, figures] of Object.entries(found)) {
    const { asset, suffix } = partsOf(name, assets);
    const key = suffix === null || suffix === AUTO_EARN ? asset : `${asset}.${suffix}`;
    sums.set(key, together(sums.get(key) ?? NOTHING, sumOf(figures, suffix)));
  }
  return [...sums].map(([asset, sum]) => poolOf(asset, sum));
}

/** Returns our name of the asset, and what Kraken adds to it, such as `S` for what is staked. */
function partsOf(
  name: string,
  assets: Assets,
): { readonly asset: string; readonly suffix: string | null } {
  const [, base = name, suffix = null] = /^(.+)\.([A-Z])$/.exec(name) ?? [];
  return { asset: assets.nameOf(base), suffix };
}

function sumOf({ balance, hold_trade, credit, credit_used }: Figures, suffix: string | null): Sum {
  // Nothing shows that what is staked, bonded or tokenized may leave the account.
  if (suffix !== null && suffix !== AUTO_EARN) return { ...NOTHING, total: balance };
  const free = subtract(balance, hold_trade);
  const available = subtract(add(free, credit), credit_used);
  return {
    total: balance,
    available,
    // Nothing shows that a credit may be withdrawn.
    withdrawable: compare(available, free) < 0 ? available : free,
    auto_earn: suffix === AUTO_EARN ? balance : null,
  };
}

function together(one: Sum, other: Sum): Sum {
  const earning = [one.auto_earn, other.auto_earn].filter((each) => each !== null);
  return {
    total: add(one.total, other.total),
    available: add(one.available, other.available),
    withdrawable: add(one.withdrawable, other.withdrawable),
    auto_earn: earning.length === 0 ? null : earning.reduce(add),
  };
}

function poolOf(asset: string, { total, auto_earn, ...sum }: Sum): PoolBalance {
  const details = {
    ...(compare(total, '0') < 0 ? { balance: total } : {}),
    ...(auto_earn === null ? {} : { auto_earn }),
  };
  return {
    account_type: 'SPOT',
    asset: asset.toUpperCase(),
    available: answers.notBelowZero(sum.available),
    withdrawable: answers.notBelowZero(sum.withdrawable),
    total: answers.notBelowZero(total),
    details: Object.keys(details).length === 0 ? null : details,
  };
}
