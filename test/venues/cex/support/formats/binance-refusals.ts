/** The codes and texts with which Binance refuses. */
import type { WireAnswer } from '../format.ts';
import type { RefusalKind } from '../refusal.ts';

const REFUSALS: Readonly<Record<RefusalKind, readonly [code: number, text: string]>> = {
  key_unknown: [-2015, 'Invalid API-key, IP, or permissions for action.'],
  signature: [-1022, 'Signature for this request is not valid.'],
  clock: [-1021, 'Timestamp for this request is outside of the recvWindow.'],
  nonce: [-1021, 'Timestamp for this request is outside of the recvWindow.'],
  permission: [-2015, 'Invalid API-key, IP, or permissions for action.'],
  endpoint_unknown: [-1020, 'This operation is not supported.'],
  parameter_missing: [-1102, 'Mandatory parameter was not sent, was empty/null, or malformed.'],
  parameter_invalid: [-1130, 'Data sent for a parameter is not valid.'],
  unknown_asset: [-4018, "We don't have this asset."],
  unknown_network: [-4018, "We don't have this asset."],
  unknown_account: [-5021, 'This parent sub have no relation'],
  master_only: [-4006, 'Support main account only.'],
  suspended: [-4019, 'Current asset is not open for withdrawal.'],
  held: [-4015, 'Withdraw is limited.'],
  address_unknown: [-4007, 'Address validation is not passed.'],
  address_not_listed: [-4035, 'This address is not on the whitelist.'],
  tag_missing: [-4008, 'Address tag validation is not passed.'],
  below_minimum: [-4022, 'Not less than the minimum pick-up quantity.'],
  above_maximum: [-4023, 'Within 24 hours, the withdrawal exceeds the maximum amount.'],
  precision: [-4021, 'Asset withdrawal must be a multiple.'],
  fee_above_limit: [-1130, 'Data sent for a parameter is not valid.'],
  quota: [-4023, 'Within 24 hours, the withdrawal exceeds the maximum amount.'],
  insufficient_funds: [-4026, 'You have insufficient balance.'],
  not_found: [-1130, 'Data sent for a parameter is not valid.'],
};
/** Transfers have codes of their own for some refusals. */
const TRANSFER_REFUSALS: Partial<typeof REFUSALS> = {
  precision: [-1111, 'Precision is over the maximum defined for this asset.'],
  insufficient_funds: [-5002, 'You have insufficient balance.'],
};
const STATUSES: Partial<Record<RefusalKind, number>> = {
  key_unknown: 401,
  permission: 401,
  endpoint_unknown: 404,
};

/** An error body of Binance. */
export function wire(status: number, code: number, msg: string): WireAnswer {
  return { status, body: { code, msg } };
}

/** Binance's answer for a refusal of a path. */
export function refusal(kind: RefusalKind, detail: string, path: string): WireAnswer {
  const own = path.includes('universalTransfer') ? TRANSFER_REFUSALS[kind] : undefined;
  const [code, text] = own ?? REFUSALS[kind];
  return wire(STATUSES[kind] ?? 400, code, detail === '' ? text : `${text} ${detail}`);
}
