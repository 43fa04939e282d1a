/**
 * The document's examples: replies that the service gave. test/http/examples.test.ts requests each
 * again and compares; `npm run docs:examples` writes them again.
 */
import type { ErrorCode } from '../../domain/errors.ts';
import seen from './seen.json' with { type: 'json' };

export interface Seen {
  /** Replies by operation and status. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Error bodies by code; absent for a code that only a machine fault can provoke. */
  readonly refusals: Readonly<Partial<Record<ErrorCode, unknown>>>;
}

/** Imported at build time: a process does not read seen.json. */
export const SEEN: Seen = seen;
