/** What the document of a change request says is wanted. `changeDocument` writes it. */
import { isObject } from '../json.ts';

/** What is wanted, as the document has it. */
export interface WantedChange {
  /** All kinds whose rules hold, such as `signers, keys`. */
  readonly kind: string;
  readonly author: string | null;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns what a parsed document says is wanted; null when this release cannot read it. */
export function wantedOf(document: unknown): WantedChange | null {
  if (!isObject(document)) return null;
  const {
    kind,
    author,
    method,
    path,
    subject,
    body = null,
    before = null,
    after = null,
  } = document;
  const kinds: unknown = document['kinds'] ?? [kind];
  if (!isTexts(kinds) || typeof method !== 'string') return null;
  if (typeof path !== 'string' || typeof subject !== 'string') return null;
  const client_id = isObject(author) ? author['client_id'] : null;
  return {
    kind: kinds.join(', '),
    author: typeof client_id === 'string' ? client_id : null,
    ...{ method, path, body, subject, before, after },
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')
  );
}
