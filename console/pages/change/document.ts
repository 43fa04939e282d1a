/** The document that an approval names: checked against the hash, and what it says is wanted. */
import { planHash } from '../../../clients/http/plan.ts';
import { wantedOf, type WantedChange } from '../../../domain/approval/change-document.ts';
import { jsonOf } from '../movement/model/plan.ts';

/** Result of reading a document. Only with `agrees` may the request be approved. */
export type DocumentReading =
  | { readonly status: 'agrees'; readonly wanted: WantedChange }
  | { readonly status: 'differs' | 'unreadable'; readonly problem: string };

/**
 * Hashes `text` (`GET change-requests/{id}/document`) and compares the result with `named`, the
 * hash that an approval of the request sends.
 */
export async function readDocument(text: string, named: string): Promise<DocumentReading> {
  const hash = await planHash(text);
  if (hash !== named)
    return {
      status: 'differs',
      problem: `The returned document has the hash ${hash}, but the change request has ${named}: approve nothing, and report it.`,
    };
  const wanted = wantedOf(jsonOf(text));
  return wanted === null
    ? {
        status: 'unreadable',
        problem:
          'This version of the console cannot read the document of the change request. Reload the page, or use fundctl of the release that runs.',
      }
    : { status: 'agrees', wanted };
}
