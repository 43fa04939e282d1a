/**
 * Changes that let more money go, or to more places, and that a rule of their kind makes wait for
 * people. The database notices them in the rows that a call writes: see
 * prisma/functions/change-requests.sql.
 */
import canonicalize from 'canonicalize';
import type { JsonValue } from '../json.ts';
import type { Caller } from '../roles.ts';
import type { RequestKind } from './power.ts';

/** The row that a call writes. Numbers are text; what differs at each try is left out. */
export interface ChangeEffect {
  /** All kinds whose rules hold. */
  readonly kinds: readonly RequestKind[];
  /** The table. */
  readonly subject: string;
  /** Null: there was no row. */
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** Thrown instead of a change that waits for people. Nothing of its transaction was written. */
export class ChangeWaits extends Error {
  override readonly name = 'ChangeWaits';
  readonly effect: ChangeEffect;
  constructor(effect: ChangeEffect, options: { readonly cause: unknown }) {
    super(
      `this change of ${effect.subject} waits for approvals (${effect.kinds.join(', ')})`,
      options,
    );
    this.effect = effect;
  }
}

/** The call that is made once the change is approved. */
export interface ChangeCall {
  readonly method: string;
  /** The decoded path with its prefix. */
  readonly path: string;
  readonly body: JsonValue;
  readonly idempotency_key: string | null;
}

/** Who wants a change: a caller of the API, or `fundadmin:<person>`. */
export type ChangeAuthor = Caller | { readonly client_id: `fundadmin:${string}` };

export const CHANGE_STATES = [
  'open',
  'applied',
  'rejected',
  'withdrawn',
  'failed',
  'outdated',
  'expired',
] as const;
export type ChangeState = (typeof CHANGE_STATES)[number];

/** Returns the RFC 8785 JSON that people approve: its SHA-256 is the hash of the request. */
export function changeDocument(
  id: string,
  author: ChangeAuthor,
  call: ChangeCall,
  { kinds, ...effect }: ChangeEffect,
): string {
  const text = canonicalize({ id, kind: kinds[0], kinds, author, ...call, ...effect });
  if (text === undefined) throw new Error('a change request is no JSON');
  return text;
}
