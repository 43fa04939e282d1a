/**
 * What is never written to a log nor shown in a view, whoever put it there: one list of names and
 * one rule for texts.
 */

/**
 * Telling names in lower case without separators: `X-SVC-Signature`, `privateKey` and `raw_tx` are
 * all meant.
 */
const TELLING =
  /secret|password|passwd|passphrase|(auth|access|bearer|refresh|session)token|signature|privatekey|authorization|cookie|rawtx|rawtransaction|rawsigned|signed(raw|tx|transaction|payload)|signresult|apikey|credential|mnemonic|seedphrase|^seed$/;
/** Longer than any hash or address: signatures, call data and signed transactions. */
const LONG_HEX = /\b(?:0x)?[0-9a-fA-F]{100,}\b/g;
/**
 * Addresses of providers often carry a password or a key. Of those in errors the host is enough.
 */
const WEB_ADDRESS =
  /\b(https?|wss?):\/\/(?:[^\s/@"'`<>]*@)?([^\s/?#"'`<>@)\]},]+)([/?#][^\s"'`<>)\]},]*)?/g;
const PASSWORD_IN_URL = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"'`<>]*@/gi;

/** Stands where something was taken out. */
export const REDACTED = '[redacted]';

/** Whether the name of a field tells that its value is a secret or a raw signed payload. */
export function isTelling(name: string): boolean {
  return TELLING.test(name.replace(/[^a-z0-9]/gi, '').toLowerCase());
}

/** Any text: long hex by its beginning and length alone, addresses without user and password. */
export function safeText(text: string): string {
  return text
    .replace(LONG_HEX, (hex) => `${hex.slice(0, 10)}…(${String(hex.length)} hex digits)`)
    .replace(PASSWORD_IN_URL, '$1');
}

/** The text of an error: of web addresses the host alone. */
export function hostsOnly(text: string): string {
  return text
    .replace(WEB_ADDRESS, (_all, scheme: string, host: string, rest: string | undefined) => {
      return `${scheme}://${host}${rest === undefined || rest === '/' ? '' : '/…'}`;
    })
    .replace(PASSWORD_IN_URL, '$1');
}
