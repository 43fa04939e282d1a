/** Compares names of transactions. */

/** Returns a hash in one form: many chains write hashes with and without 0x, in either case. */
export function plainTransaction(text: string): string {
  return /^(0x)?[0-9a-f]+$/i.test(text) ? text.toLowerCase().replace(/^0x/, '') : text;
}
