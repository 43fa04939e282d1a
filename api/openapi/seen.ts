/**
 * The examples of the document: answers that the service gave. test/http/examples.test.ts asks for
 * each again and compares; `npm run docs:examples` writes them down anew.
 */
import type { ErrorCode } from '../../domain/errors.ts';
import seen from './seen.json' with { type: 'json' };

export interface Seen {
  /** By operation and status. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** By code. One that takes a fault of the machine to provoke has none. */
  readonly refusals: Readonly<Partial<Record<ErrorCode, unknown>>>;
}

/** Part of the build: a process needs no file of this folder beside it. */
export const SEEN: Seen = seen;
