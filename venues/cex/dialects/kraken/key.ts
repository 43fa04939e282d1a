/** Checks an API key of Kraken (docs/kraken-facts.md, 1.7 and 10). */
import type { CallOptions } from '../../../../domain/executor.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import * as answers from './answers.ts';

/** With one of them, whoever has the key can withdraw to an address of their own (9). */
const DEFEATS_BOOK: readonly string[] = ['add-withdraw-address', 'update-withdraw-address'];

/**
 * As `keyFault` of the dialect. A key with a second factor fails already in the call, which has no
 * `otp`.
 */
export async function keyFault(
  connection: CexConnection,
  needs: { readonly withdraw: boolean },
  call: CallOptions,
): Promise<string | null> {
  const schema = answers.resultOf(answers.keyInfo);
  const info = await ask(connection, 'privatePostGetApiKeyInfo', {}, call, schema);
  const { permissions } = info;
  if (!permissions.includes('query-funds')) return 'the API key may not read';
  if (needs.withdraw && !permissions.includes('withdraw-funds'))
    return 'the API key may not withdraw';
  if (DEFEATS_BOOK.some((each) => permissions.includes(each)))
    return 'the API key may change the address book; create one without that permission';
  const period = [info.queryFrom ?? info.query_from, info.queryTo ?? info.query_to];
  // It hides older or newer records, so what is not found may have been sent (7).
  if (!period.every(isZero))
    return 'the API key does not show the whole history; create one without a query period';
  // With a window, Kraken may accept a delayed request after a later one (11).
  if (!isZero(info.nonceWindow ?? info.nonce_window))
    return 'the API key has a nonce window; set it to 0';
  return null;
}

/** A setting that Kraken does not show is not known to be 0. */
function isZero(value: string | undefined): boolean {
  return value === '0';
}
