/**
 * Defines which values are never written to a log or shown in a view: a list of field names, and a
 * rule for texts.
 */

/**
 * Names of sensitive fields, in lower case without separators: matches `X-SVC-Signature`,
 * `privateKey` and `raw_tx`.
 */
const TELLING =
  /secret|password|passwd|passphrase|(auth|access|bearer|refresh|session)token|signature|privatekey|authorization|cookie|rawtx|rawtransaction|rawsigned|signed(raw|tx|transaction|payload)|signresult|apikey|credential|mnemonic|seedphrase|^seed$/;
/** Hex longer than any hash or address: signatures, call data and signed transactions. */
const LONG_HEX = /\b(?:0x)?[0-9a-fA-F]{100,}\b/g;
/**
 * Web addresses in errors, of which only the host is kept: a provider's URL often contains a
 * password or a key.
 */
const WEB_ADDRESS =
  /\b(https?|wss?):\/\/(?:[^\s/"'`<>]*@)?([^\s/?#"'`<>@)\]},]+)([/?#][^\s"'`<>)\]},]*)?/g;
/**
 * User and password of an address of any scheme. The scheme is not matched: hostile text can be one
 * long scheme after another, and each would be read to the end of the text. Up to the last `@`,
 * since a password may hold one.
 */
const PASSWORD_IN_URL = /:\/\/[^\s/"'`<>]*@/g;

/** The text that replaces a removed secret. */
export const REDACTED = '[redacted]';

/** Returns whether a field's name shows that its value is a secret or a raw signed payload. */
export function isTelling(name: string): boolean {
  return TELLING.test(name.replace(/[^a-z0-9]/gi, '').toLowerCase());
}

/**
 * Returns a text with long hex shortened to its beginning and length, and URLs without user and
 * password.
 */
export function safeText(text: string): string {
  return text
    .replace(LONG_HEX, (hex) => `${hex.slice(0, 10)}…(${String(hex.length)} hex digits)`)
    .replace(PASSWORD_IN_URL, '://');
}

/** Returns the text of an error with each web address reduced to its host. */
export function hostsOnly(text: string): string {
  return text
    .replace(WEB_ADDRESS, (_all, scheme: string, host: string, rest: string | undefined) => {
      return `${scheme}://${host}${rest === undefined || rest === '/' ? '' : '/…'}`;
    })
    .replace(PASSWORD_IN_URL, '://');
}
