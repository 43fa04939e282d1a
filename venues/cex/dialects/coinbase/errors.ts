/** Reads Coinbase's errors, in their two forms (docs/coinbase-facts.md, 13). */
import * as answers from './answers.ts';

/** As `readError` of the dialect. */
export function readError(
  body: unknown,
): { readonly code: string; readonly message: string } | null {
  const v2 = answers.errors.safeParse(body);
  if (v2.success) return ofAll(v2.data.errors);
  const v3 = answers.error.safeParse(body);
  if (!v3.success) return null;
  const { error, message, error_details } = v3.data;
  const said = message ?? error_details;
  // Without either it is an error of OAuth, which is about no request of ours.
  return said === null ? null : { code: error, message: said };
}

/** Of several errors only one id speaks for the request: the id that all of them have. */
function ofAll(
  errors: readonly { readonly id: string; readonly message: string | null }[],
): { readonly code: string; readonly message: string } | null {
  const [first] = errors;
  if (first === undefined || errors.some(({ id }) => id !== first.id)) return null;
  const message = errors.flatMap((each) => each.message ?? []).join('; ');
  return { code: first.id, message };
}
