/** The codes and texts with which Bybit refuses, with status 200 (docs/bybit-facts.md, 10). */
import type { WireAnswer } from '../format.ts';
import type { RefusalKind } from '../refusal.ts';

type Answer = readonly [code: number, text: string];

const WRONG_REQUEST: Answer = [10001, 'Request parameter error'];
const OUT_OF_TIME: Answer = [
  10002,
  'invalid request, please check your server timestamp or recv_window param.',
];
/** Of the address book; the same code is that of wrong parameters (7). */
const NOT_EQUAL: Answer = [131002, 'Withdraw address chain or destination tag are not equal'];
const WRONG_FIELD: Answer = [131002, 'Parameter error'];
/** Which of the two limits is not said. */
const OUTSIDE_LIMITS: Answer = [
  131096,
  'Withdraw amount does not satify the lower limit or upper limit',
];

/** Where no source ties a code to the cause, the code here proves nothing, or is that of 131002. */
const REFUSALS: Readonly<Record<RefusalKind, Answer>> = {
  key_unknown: [10003, 'API key is invalid. Check whether the key and domain are matched'],
  signature: [10004, 'Error sign, please check your signature generation algorithm.'],
  clock: OUT_OF_TIME,
  nonce: OUT_OF_TIME,
  permission: [10005, 'Permission denied, please check your API key permissions.'],
  endpoint_unknown: [10017, 'Route not found.'],
  parameter_missing: WRONG_REQUEST,
  parameter_invalid: WRONG_REQUEST,
  unknown_asset: [131001, 'openapi svc error'],
  unknown_network: [131001, 'openapi svc error'],
  unknown_account: [131202, 'Invalid memberId'],
  master_only: [131003, 'Internal error'],
  suspended: [131097, 'Withdrawal of this currency has been closed'],
  held: [131089, 'User sensitive operation, withdrawal is prohibited within 24 hours'],
  address_unknown: NOT_EQUAL,
  address_not_listed: NOT_EQUAL,
  tag_missing: NOT_EQUAL,
  below_minimum: OUTSIDE_LIMITS,
  above_maximum: OUTSIDE_LIMITS,
  precision: WRONG_FIELD,
  fee_above_limit: WRONG_FIELD,
  quota: [
    131088,
    'The withdrawal amount exceeds the remaining withdrawal limit of your identity verification level. The current available amount for withdrawal :',
  ],
  insufficient_funds: [131001, 'Account available balance insufficient'],
  not_found: WRONG_FIELD,
};

const HISTORY_REFUSALS: Partial<typeof REFUSALS> = {
  parameter_missing: WRONG_FIELD,
  parameter_invalid: WRONG_FIELD,
};
const TRANSFER_REFUSALS: Partial<typeof REFUSALS> = {
  parameter_missing: [131203, 'Request parameter error'],
  parameter_invalid: [131203, 'Request parameter error'],
  precision: [131210, 'Amount accuracy error'],
  insufficient_funds: [131212, 'Insufficient balance'],
};
/** Paths that have codes of their own, by how they start; the first one counts. */
const OWN_REFUSALS: readonly (readonly [start: string, refusals: Partial<typeof REFUSALS>])[] = [
  [
    '/v5/asset/transfer/universal-transfer',
    { ...TRANSFER_REFUSALS, insufficient_funds: [131228, 'your balance is not enough'] },
  ],
  ['/v5/asset/transfer/', TRANSFER_REFUSALS],
  ['/v5/asset/withdraw/', HISTORY_REFUSALS],
  ['/v5/asset/deposit/', HISTORY_REFUSALS],
];

/** The kinds whose text names the detail. The texts about a balance are compared whole (10.4). */
const DETAILED: readonly RefusalKind[] = [
  'clock',
  'parameter_missing',
  'parameter_invalid',
  'quota',
];

/** An error of Bybit: its code is a number. */
export function wire(retCode: number, retMsg: string): WireAnswer {
  return { status: 200, body: { retCode, retMsg, result: {}, retExtInfo: {}, time: Date.now() } };
}

/** An error with a code, which may be followed by its text. Text alone is that of a ban (13). */
export function error(code: string): WireAnswer {
  const [, number, text = ''] = /^(-?[0-9]+)\W*(.*)$/.exec(code) ?? [];
  if (number === undefined) return { status: 403, body: { retMsg: code } };
  return wire(Number(number), text === '' ? 'Refused.' : text);
}

/** Bybit's answer for a refusal of a path. */
export function refusal(kind: RefusalKind, detail: string, path: string): WireAnswer {
  // A wrong path is the only fault with a status of its own, and no body.
  if (kind === 'endpoint_unknown') return { status: 404, body: '' };
  const own = OWN_REFUSALS.find(([start]) => path.startsWith(start))?.[1][kind];
  const [code, text] = own ?? REFUSALS[kind];
  return wire(code, DETAILED.includes(kind) && detail !== '' ? `${text} ${detail}` : text);
}
