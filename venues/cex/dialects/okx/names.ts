/** OKX's names of pools and networks, and its times. */
import type { TransferAccountType } from '../../../../domain/capital-transfers/topology.ts';

export const DAY = 86_400_000;

/**
 * The funding account is 6, the trading account 18. Withdrawals leave the funding account alone, so
 * it has to be `SPOT` (docs/okx-facts.md, 3).
 */
export const ACCOUNT_OF: Readonly<Record<TransferAccountType, string>> = {
  SPOT: '6',
  USDT_FUTURE: '18',
};

/** Returns our name of one of OKX's accounts. */
export function poolName(account: string): string {
  const found = Object.entries(ACCOUNT_OF).find(([, each]) => each === account);
  return found?.[0] ?? `account ${account}`;
}

/** Returns OKX's `chain`, such as `USDT-ERC20` (docs/okx-facts.md, 16). */
export function chainOf(asset: string, network: string): string {
  return `${asset}-${network}`;
}

/** Returns the network of a `chain`; null without one, as in older records. */
export function networkOf(asset: string, chain: string | null): string | null {
  const prefix = chainOf(asset, '');
  return chain?.startsWith(prefix) ? chain.slice(prefix.length) : chain;
}

/** Returns milliseconds since 1970 as ISO 8601. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
