/**
 * Codes by which Binance refuses a withdrawal or a transfer between accounts before it does
 * anything. Codes that are not listed leave the outcome unknown: internal faults (-1000, -1001,
 * -1006, -1007), rate limits (-1003, -4005, -12014), pending or failed bookings (-4027, -5010,
 * -5012), and duplicates, which refer to an earlier send.
 *
 * The library's error classes are not used: the library chooses a class by host, so behind a proxy
 * -4026 (balance too small) becomes the futures market's -4026 (wrong commission).
 */
const KEY = 'EXCHANGE_KEY_REFUSED';
const INVALID = 'EXCHANGE_REFUSED';
const FUNDS = 'INSUFFICIENT_FUNDS';
const FORBIDDEN = 'WITHDRAWAL_NOT_ALLOWED';

export const BINANCE_REFUSALS: Readonly<Record<string, string>> = {
  '-1002': KEY,
  '-1020': INVALID,
  '-1021': 'CLOCK_DIFFERENCE',
  '-1022': KEY,
  '-1100': INVALID,
  '-1101': INVALID,
  '-1102': INVALID,
  '-1103': INVALID,
  '-1104': INVALID,
  '-1105': INVALID,
  '-1106': INVALID,
  '-1108': 'ASSET_UNKNOWN',
  '-1111': 'AMOUNT_PRECISION',
  '-1128': INVALID,
  '-1130': INVALID,
  '-2008': KEY,
  '-2014': KEY,
  '-2015': KEY,
  '-4003': 'ACCOUNT_UNKNOWN',
  '-4004': KEY,
  '-4006': 'ACCOUNT_NOT_ALLOWED',
  '-4007': 'ADDRESS_INVALID',
  '-4008': 'TAG_INVALID',
  '-4012': FORBIDDEN,
  '-4013': FORBIDDEN,
  '-4014': FORBIDDEN,
  '-4015': FORBIDDEN,
  '-4016': FORBIDDEN,
  '-4017': FORBIDDEN,
  '-4018': 'ASSET_UNKNOWN',
  '-4019': 'WITHDRAWAL_SUSPENDED',
  '-4021': 'AMOUNT_PRECISION',
  '-4022': 'AMOUNT_TOO_SMALL',
  '-4023': 'AMOUNT_TOO_LARGE',
  '-4024': FUNDS,
  '-4026': FUNDS,
  '-4028': 'AMOUNT_TOO_SMALL',
  '-4033': 'ADDRESS_INVALID',
  '-4034': 'ADDRESS_INVALID',
  '-4035': 'ADDRESS_NOT_WHITELISTED',
  '-4036': 'ADDRESS_NOT_WHITELISTED',
  '-4044': FORBIDDEN,
  '-4046': FORBIDDEN,
  '-5002': FUNDS,
  '-5003': FUNDS,
  '-5011': 'ACCOUNT_UNKNOWN',
  '-5013': FUNDS,
  '-5021': 'ACCOUNT_UNKNOWN',
  '-5022': 'ACCOUNT_UNKNOWN',
};
