/**
 * Codes by which Bybit refuses a withdrawal or a transfer before it does anything
 * (docs/bybit-facts.md, 10.1). Codes that are not listed leave the outcome unknown: those that name
 * a state of the service, no cause or a time-out (10.2), and those that refer to an earlier request
 * (10.3).
 */
const KEY = 'EXCHANGE_KEY_REFUSED';
const INVALID = 'EXCHANGE_REFUSED';
const FUNDS = 'INSUFFICIENT_FUNDS';
const FORBIDDEN = 'WITHDRAWAL_NOT_ALLOWED';
const ADDRESS = 'ADDRESS_INVALID';
const BOOK = 'ADDRESS_NOT_WHITELISTED';
const LARGE = 'AMOUNT_TOO_LARGE';
const ACCOUNT = 'ACCOUNT_NOT_ALLOWED';
const UNKNOWN_ACCOUNT = 'ACCOUNT_UNKNOWN';

/**
 * 131001 is also the code of a fault of the service. Only its texts about the balance prove that
 * nothing was done, so `readError` makes one code of them (10.4).
 */
export const BALANCE_TOO_SMALL = '131001:Account available balance insufficient';

/** Compared whole and without case. The last one names an amount and a coin. */
export const BALANCE_TEXTS: readonly RegExp[] = [
  /^account available balance insufficient$/i,
  /^the available balance is not sufficient to cover the handling fee$/i,
  /^withdrawal amount is greater than your available balance \([^()]*\)$/i,
];

export const BYBIT_REFUSALS: Readonly<Record<string, string>> = {
  '10001': INVALID,
  '10002': 'CLOCK_DIFFERENCE',
  '10003': KEY,
  '10004': KEY,
  '10005': KEY,
  '10007': KEY,
  '10010': KEY,
  '10017': INVALID,
  '10020': INVALID,
  '10028': INVALID,
  '33004': KEY,
  '90034': 'NETWORK_UNKNOWN',
  [BALANCE_TOO_SMALL]: FUNDS,
  '131002': INVALID,
  '131004': FORBIDDEN,
  '131065': FORBIDDEN,
  '131066': FORBIDDEN,
  '131068': INVALID,
  '131070': FORBIDDEN,
  '131071': FORBIDDEN,
  '131072': FORBIDDEN,
  '131073': FORBIDDEN,
  '131074': INVALID,
  '131075': ADDRESS,
  '131076': ADDRESS,
  '131077': ADDRESS,
  '131078': FORBIDDEN,
  '131079': FORBIDDEN,
  '131081': 'TAG_INVALID',
  '131083': BOOK,
  '131085': FUNDS,
  '131086': LARGE,
  '131087': FORBIDDEN,
  '131088': LARGE,
  '131089': FORBIDDEN,
  '131090': FORBIDDEN,
  '131091': FORBIDDEN,
  '131093': BOOK,
  '131094': INVALID,
  '131095': LARGE,
  '131096': INVALID,
  '131097': 'WITHDRAWAL_SUSPENDED',
  '131098': FORBIDDEN,
  '131202': UNKNOWN_ACCOUNT,
  '131203': INVALID,
  '131207': UNKNOWN_ACCOUNT,
  '131208': ACCOUNT,
  '131210': 'AMOUNT_PRECISION',
  '131211': INVALID,
  '131212': FUNDS,
  '131215': INVALID,
  '131227': ACCOUNT,
  '131228': FUNDS,
  '131229': INVALID,
  '131231': INVALID,
  '131232': INVALID,
  '131233': INVALID,
  '131234': ACCOUNT,
  '131235': ACCOUNT,
  '131239': INVALID,
  '500010': UNKNOWN_ACCOUNT,
  '500011': INVALID,
};

/** Bybit's words where it bans an address; they come with status 403 (13). */
export const TOO_FREQUENT = 'access too frequent';
const ADDRESS_LIMIT = '10018';

export const BYBIT_RATE_LIMITS: readonly string[] = ['10006', ADDRESS_LIMIT, TOO_FREQUENT];

/** "wait for at least 10 minutes" where this machine's address is limited (13). */
export const BYBIT_PAUSES: Readonly<Record<string, number>> = {
  [ADDRESS_LIMIT]: 660,
  [TOO_FREQUENT]: 660,
};
