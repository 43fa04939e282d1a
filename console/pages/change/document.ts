/** The document that an approval names: checked against the hash, and what it says is wanted. */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { planHash } from '../../../clients/http/plan.ts';
import { isObject } from '../../../domain/json.ts';
import { jsonOf } from '../movement/model/plan.ts';

type Change = ResultOf<'getChangeRequest'>;

/** What is wanted, as the document has it. */
export type Wanted = Pick<
  Change,
  'kind' | 'author' | 'method' | 'path' | 'body' | 'subject' | 'before' | 'after'
>;

/** Result of reading a document. Only with `agrees` may the request be approved. */
export type DocumentReading =
  | { readonly status: 'agrees'; readonly wanted: Wanted }
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

function wantedOf(document: unknown): Wanted | null {
  if (!isObject(document)) return null;
  const { kind, author, method, path, subject, ...row } = document;
  const texts = [kind, method, path, subject].every((each) => typeof each === 'string');
  if (!texts) return null;
  const client_id = isObject(author) ? author['client_id'] : null;
  const { body = null, before = null, after = null } = row;
  return {
    ...({ kind, method, path, subject } as Pick<Wanted, 'kind' | 'method' | 'path' | 'subject'>),
    author: typeof client_id === 'string' ? client_id : null,
    ...{ body, before, after },
  };
}
