/** Reads Bybit's errors, which come with HTTP status 200 (docs/bybit-facts.md, 1.1 and 10). */
import * as answers from './answers.ts';
import { BALANCE_TEXTS, BALANCE_TOO_SMALL, BYBIT_REFUSALS, TOO_FREQUENT } from './refusals.ts';

/** As `readError` of the dialect. Only the code counts: a good answer has any text. */
export function readError(
  body: unknown,
): { readonly code: string; readonly message: string } | null {
  const parsed = answers.errorBody.safeParse(body);
  if (!parsed.success) return null;
  const { retCode, retMsg, result } = parsed.data;
  const message = retMsg ?? '';
  if (retCode === '0') return null;
  if (message.toLowerCase().includes(TOO_FREQUENT)) return { code: TOO_FREQUENT, message };
  if (retCode === null) return null;
  const code = codeOf(retCode, message);
  // What has an id was done, whatever is said beside it.
  if (Object.hasOwn(BYBIT_REFUSALS, code) && !isEmpty(result))
    return { code: `${code} beside a result`, message };
  return { code, message };
}

function codeOf(retCode: string, message: string): string {
  const isOfBalance =
    retCode === '131001' && BALANCE_TEXTS.some((each) => each.test(message.trim()));
  return isOfBalance ? BALANCE_TOO_SMALL : retCode;
}

/** Refusals come without a result, with null or with an empty one. */
function isEmpty(result: unknown): boolean {
  return result == null || (typeof result === 'object' && Object.keys(result).length === 0);
}
