/**
 * Codes by which Kraken refuses a request before it does anything: the rows of
 * docs/kraken-facts.md, 8 with a yes. All others leave the outcome unknown: an error is about the
 * request, and a withdrawal may have been made all the same. So an invalid nonce is none: it is
 * what the second copy of a request is answered with whose first copy was carried out.
 */
const KEY = 'EXCHANGE_KEY_REFUSED';
const ACCOUNT = 'ACCOUNT_NOT_ALLOWED';
const BOOK = 'ADDRESS_NOT_WHITELISTED';

/** Documented without its prefix, so it is matched behind any (docs/kraken-facts.md, 4). */
export const INVALID_ADDRESS = 'Invalid withdrawal address';

export const KRAKEN_REFUSALS: Readonly<Record<string, string>> = {
  'EAPI:Invalid key': KEY,
  'EAPI:Invalid signature': KEY,
  'EGeneral:Permission denied': KEY,
  'EGeneral:Invalid arguments': 'EXCHANGE_REFUSED',
  'EAccount:Invalid permissions': ACCOUNT,
  'EAuth:Account unconfirmed': ACCOUNT,
  'EAuth:Account temporary disabled': ACCOUNT,
  'EFunding:Unknown withdraw key': BOOK,
  'EFunding:Unknown asset': 'ASSET_UNKNOWN',
  'EFunding:No funding method': 'NETWORK_UNKNOWN',
  [INVALID_ADDRESS]: BOOK,
};

const LOCKOUT = 'EGeneral:Temporary lockout';

/** Kraken limits the key, the account or the address of this machine. */
export const KRAKEN_RATE_LIMITS: readonly string[] = [
  'EAPI:Rate limit exceeded',
  'EGeneral:Too many requests',
  'EAuth:Rate limit exceeded',
  'EAuth:Too many requests',
  'EFunding:Rate limit exceeded',
  'EService:Throttled',
  LOCKOUT,
];

/** "each attempt resets the timer" of a lockout of 15 minutes (docs/kraken-facts.md, 8). */
export const KRAKEN_PAUSES: Readonly<Record<string, number>> = { [LOCKOUT]: 960 };
