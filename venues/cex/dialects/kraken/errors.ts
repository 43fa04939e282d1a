/**
 * Reads Kraken's errors, which come with HTTP status 200. An entry of `error` is
 * `<severity><category>:<description>[:<extra info>]` (docs/kraken-facts.md, 8).
 */
import { z } from 'zod';
import { INVALID_ADDRESS, KRAKEN_REFUSALS } from './refusals.ts';

/** A comment of the library has one entry as a text instead of a list. */
const errorBody = z.object({
  error: z.union([z.array(z.string()), z.string().transform((entry) => [entry])]),
  result: z.unknown().optional(),
});
const done = z.object({ refid: z.string().min(1) });

/** The codes behind which Kraken writes extra information. */
const WITH_INFORMATION: readonly string[] = [
  'EGeneral:Invalid arguments',
  'EGeneral:Internal error',
  'EService:Throttled',
];

/** As `readError` of the dialect; null also for warnings, and for a withdrawal that was made. */
export function readError(
  body: unknown,
): { readonly code: string; readonly message: string } | null {
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) return null;
  const { error, result } = parsed.data;
  // A withdrawal with an id was made, whatever stands beside it (docs/kraken-facts.md, 1.2).
  if (done.safeParse(result).success) return null;
  const codes = error.map(codeOf);
  if (codes.every(isWarning)) return null;
  const code = codeOfAll(codes, result);
  return { code, message: error.length === 1 && error[0] === code ? '' : error.join(', ') };
}

/**
 * Returns the code that speaks for the whole answer: a refusal's only if every entry is a refusal
 * and nothing came with them.
 */
function codeOfAll(codes: readonly string[], result: unknown): string {
  const open = codes.filter((code) => !Object.hasOwn(KRAKEN_REFUSALS, code));
  const first = open.find((code) => !isWarning(code)) ?? open[0];
  if (first !== undefined) return first;
  const [listed = ''] = codes;
  return isEmpty(result) ? listed : `${listed} beside a result`;
}

/** Returns the entry in one form: Kraken writes some with blanks behind the colons. */
function codeOf(entry: string): string {
  const parts = entry.split(':').map((part) => part.replace(/\s+/g, ' ').trim());
  const whole = parts.join(':');
  if (parts.length <= 2 && parts.at(-1) === INVALID_ADDRESS && !isWarning(whole))
    return INVALID_ADDRESS;
  const code = parts.slice(0, 2).join(':');
  return WITH_INFORMATION.includes(code) ? code : whole;
}

function isWarning(code: string): boolean {
  return /^W[A-Z]\w*:/.test(code);
}

/** Kraken's guides show a refusal without a result, and one with an empty one. */
function isEmpty(result: unknown): boolean {
  return result == null || (typeof result === 'object' && Object.keys(result).length === 0);
}
