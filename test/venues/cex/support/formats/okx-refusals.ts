/** The codes and texts with which OKX refuses (docs/okx-facts.md, 10). */
import type { WireAnswer } from '../format.ts';
import type { RefusalKind } from '../refusal.ts';

const WRONG_PARAMETER = ['51000', 'Parameter error'] as const;

const REFUSALS: Readonly<Record<RefusalKind, readonly [code: string, text: string]>> = {
  key_unknown: ['50111', 'Invalid OK-ACCESS-KEY.'],
  signature: ['50113', 'Invalid signature.'],
  clock: ['50102', 'Timestamp request expired.'],
  nonce: ['50102', 'Timestamp request expired.'],
  permission: ['50120', "This API key doesn't have permission to use this function"],
  endpoint_unknown: ['404', 'Not Found'],
  parameter_missing: ['50014', 'Parameter can not be empty.'],
  parameter_invalid: WRONG_PARAMETER,
  unknown_asset: WRONG_PARAMETER,
  unknown_network: ['58010', "Chain isn't supported"],
  unknown_account: ['58115', 'Sub-account does not exist.'],
  master_only: ['59500', 'Only the API key of the main account has permission.'],
  suspended: ['58214', 'Withdrawals suspended due to maintenance'],
  held: [
    '58219',
    'You cannot withdraw crypto within 24 hours after changing your mobile number, email address, or Google Authenticator.',
  ],
  address_unknown: ['58222', 'Invalid withdrawal address'],
  address_not_listed: ['58207', "Withdrawal address isn't on the verified address list."],
  tag_missing: [
    '58221',
    'The toAddr parameter format is incorrect, withdrawal address needs labels.',
  ],
  below_minimum: ['58206', 'Withdrawal amount is less than the lower limit.'],
  above_maximum: ['58205', 'Withdrawal amount exceeds the upper limit.'],
  // The code for too many decimals is unproven (18).
  precision: WRONG_PARAMETER,
  fee_above_limit: WRONG_PARAMETER,
  quota: ['58201', 'Withdrawal amount exceeds daily withdrawal limit.'],
  insufficient_funds: ['58350', 'Insufficient balance.'],
  not_found: ['58215', 'Withdrawal ID does not exist.'],
};
/** Transfers have codes of their own for some refusals. */
const TRANSFER_REFUSALS: Partial<typeof REFUSALS> = {
  insufficient_funds: ['58116', 'Transfer exceeds the available amount.'],
  not_found: ['58129', "clientId is incorrect or clientId does not match with 'type'"],
};

/** The statuses of the codes that do not come with 200 (10.1). */
const STATUSES: readonly (readonly [status: number, codes: readonly string[]])[] = [
  [400, ['50000', '50002', '50004', '50006', '50014', '50015', '50016', '50100', '51000', '58114']],
  [403, ['50035']],
  [405, ['50115']],
  [410, ['50005']],
  [429, ['50013', '58102']],
  [500, ['50026']],
  [503, ['50001']],
];

function statusOf(code: string): number {
  // Faults of the headers, of 50101 to 50114.
  if (/^5010[1-9]$|^5011[0-4]$/.test(code)) return 401;
  return STATUSES.find(([, codes]) => codes.includes(code))?.[0] ?? 200;
}

/** An error of OKX, with the status that it documents for the code. */
export function wire(code: string, msg: string): WireAnswer {
  return { status: statusOf(code), body: { code, data: [], msg } };
}

/** OKX's answer for a refusal of a path. */
export function refusal(kind: RefusalKind, detail: string, path: string): WireAnswer {
  const own = path.startsWith('/api/v5/asset/transfer') ? TRANSFER_REFUSALS[kind] : undefined;
  const [code, text] = own ?? REFUSALS[kind];
  // The gateway has its code as a number, and no list.
  if (kind === 'endpoint_unknown')
    return { status: 404, body: { code: Number(code), data: {}, error_code: code, msg: text } };
  return wire(code, detail === '' ? text : `${text} ${detail}`);
}
