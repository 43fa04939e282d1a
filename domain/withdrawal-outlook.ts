/**
 * What an account may still withdraw, and what its venue does not pay out at present: known before
 * a node has to wait for it (docs/decisions/0130-suspended-is-not-failed.md).
 */
import { compare } from './money.ts';
import type { VenueWaitCode } from './venue-waits.ts';

/** What is left of a withdrawal quota, in `unit`: an asset, or `USD`. */
export interface WithdrawalQuota {
  readonly left: string;
  readonly unit: string;
}

export interface ClosedNetwork {
  readonly asset: string;
  /** As the venue names it; null: every network of the asset. */
  readonly network: string | null;
  /** ISO 8601: when the venue expects to pay out again; null: not known. */
  readonly opens_at: string | null;
}

export interface WithdrawalOutlook {
  /** Null: the venue shows no such figure of the account. */
  readonly quota: WithdrawalQuota | null;
  /** Among the assets that the account has. That another one is missing proves nothing. */
  readonly closed: readonly ClosedNetwork[];
}

/** A withdrawal that is planned. `amount` is null where only another node's output decides it. */
export interface PlannedWithdrawal {
  readonly asset: string;
  readonly network: string;
  readonly amount: string | null;
}

/** What a withdrawal would wait for. */
export interface ExpectedWait {
  readonly code: VenueWaitCode;
  readonly message: string;
  /** ISO 8601: when the venue expects to pay out again; null: not known. */
  readonly opens_at: string | null;
}

/** Returns the wait of a withdrawal while its venue does not pay out over its network. */
export function suspendedWait(
  { asset, network }: Pick<PlannedWithdrawal, 'asset' | 'network'>,
  opens_at: string | null,
): ExpectedWait {
  const until = opens_at === null ? '' : `; it expects to do so from ${opens_at}`;
  const message = `the exchange does not pay out ${asset} on ${network} at present${until}`;
  return { code: 'VENUE_SUSPENDED', message, opens_at };
}

/**
 * Returns the wait of a withdrawal above what is left of the account's quota, else null. A quota in
 * another unit than the asset decides only when nothing is left of it: the service knows no
 * exchange rates. The same holds for an amount that is not known.
 */
export function quotaWait(
  quota: WithdrawalQuota | null,
  { asset, amount }: Pick<PlannedWithdrawal, 'asset' | 'amount'>,
): ExpectedWait | null {
  if (quota === null) return null;
  const { left, unit } = quota;
  const isOver =
    unit === asset && amount !== null ? compare(amount, left) > 0 : compare(left, '0') <= 0;
  if (!isOver) return null;
  const message = `the account may withdraw ${left} ${unit} at present`;
  return { code: 'WITHDRAWAL_QUOTA_EXHAUSTED', message, opens_at: null };
}

/** Returns what the withdrawal would wait for now; null: nothing that the outlook shows. */
export function expectedWait(
  { closed, quota }: WithdrawalOutlook,
  planned: PlannedWithdrawal,
): ExpectedWait | null {
  const found = closed.find(
    ({ asset, network }) =>
      asset === planned.asset && (network === null || network === planned.network),
  );
  return found === undefined ? quotaWait(quota, planned) : suspendedWait(planned, found.opens_at);
}
