/** The texts with which Kraken refuses, all with status 200 (docs/kraken-facts.md, 8). */
import type { WireAnswer } from '../format.ts';
import type { RefusalKind } from '../refusal.ts';

/** Where no source shows Kraken's text, the text here says what is wrong, and proves nothing. */
const REFUSALS: Readonly<Record<RefusalKind, string>> = {
  key_unknown: 'EAPI:Invalid key',
  signature: 'EAPI:Invalid signature',
  clock: 'EGeneral:Internal error',
  nonce: 'EAPI:Invalid nonce',
  permission: 'EGeneral:Permission denied',
  endpoint_unknown: 'EGeneral:Unknown method',
  parameter_missing: 'EGeneral:Invalid arguments',
  parameter_invalid: 'EGeneral:Invalid arguments',
  unknown_asset: 'EFunding:Unknown asset',
  unknown_network: 'EFunding:No funding method',
  unknown_account: 'EGeneral:Invalid arguments',
  master_only: 'EGeneral:Permission denied',
  suspended: 'EFunding:(asset is suspended)',
  held: 'EFunding:(withdrawals are held)',
  address_unknown: 'EFunding:Invalid withdrawal address',
  address_not_listed: 'EFunding:Unknown withdraw key',
  tag_missing: 'EGeneral:Invalid arguments',
  below_minimum: 'EFunding:(below the minimum)',
  above_maximum: 'EFunding:(above the limit)',
  precision: 'EFunding:(too many decimals)',
  fee_above_limit: 'EFunding:Max fee exceeded',
  quota: 'EFunding:(above the limit)',
  insufficient_funds: 'EFunding:Invalid amount',
  not_found: 'EFunding:Unknown reference id',
};

/** An answer of Kraken with an error. */
export function wire(error: string): WireAnswer {
  return { status: 200, body: { error: [error] } };
}

/** Kraken's answer for a refusal; only wrong arguments are named in it. */
export function refusal(kind: RefusalKind, detail: string): WireAnswer {
  const text = REFUSALS[kind];
  return wire(kind.startsWith('parameter') && detail !== '' ? `${text}:${detail}` : text);
}
