/** Bybit's names of pools, networks and accounts, and its times. */
import type { TransferAccountType } from '../../../../domain/capital-transfers/topology.ts';

export const DAY = 86_400_000;

/** A uid. Up to 15 digits are exact as a number, which universal transfers take. */
export const UID = /^[1-9][0-9]{0,14}$/;

/**
 * Withdrawals leave the funding account alone, so it has to be `SPOT` (docs/bybit-facts.md, 3). A
 * withdrawal itself has other names of pools; `FUND` is the same in both.
 */
export const ACCOUNT_TYPE_OF: Readonly<Record<TransferAccountType, string>> = {
  SPOT: 'FUND',
  USDT_FUTURE: 'UNIFIED',
};

/** Returns our name of one of Bybit's account types; an unknown one stays as it is. */
export function poolName(accountType: string): string {
  const found = Object.entries(ACCOUNT_TYPE_OF).find(([, each]) => each === accountType);
  return found?.[0] ?? accountType;
}

/** Returns the network of a `chain`; null for a booking within Bybit (docs/bybit-facts.md, 16). */
export function networkOf(chain: string | null): string | null {
  return chain === 'internalAddressChain' ? null : chain;
}

/** Returns milliseconds since 1970 as ISO 8601. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
