/**
 * The rules of one kind of order. A new kind is one more of these in the server's list.
 */
import type { ExecutionContext } from '../../../../domain/executor.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import type { Book } from '../book.ts';
import type { Posting, Terms, Transfer } from '../events.ts';

/** A refusal with its node error code; nothing has happened and nothing will. */
export interface Refusal {
  readonly error_code: string;
  readonly error_message: string;
}

export interface OrderPlan {
  /** What the order books at once. Reversed when it is cancelled or its transfer reverts. */
  readonly postings: readonly Posting[];
  /** What it owes on the chain; null when booking it is all. */
  readonly transfer: Transfer | null;
}

export interface VenueAction {
  readonly actionType: string;
  /**
   * The order that `context` requests, all fields normalised, or why it can never be carried out.
   */
  terms(context: ExecutionContext): Terms | Refusal;
  plan(terms: Terms): OrderPlan;
  /**
   * Why the books refuse the order now, apart from a lack of funds. Called at preflight and again
   * at submit.
   */
  bar?(terms: Terms, book: Book): Refusal | null;
  /** The output of the completed order. */
  output(terms: Terms, txHash: string | null): JsonObject;
}

/** Whether `value` is a refusal. Terms never have these fields. */
export function isRefusal(value: Terms | Refusal): value is Refusal {
  return 'error_code' in value;
}

export function refuse(error_code: string, error_message: string): Refusal {
  return { error_code, error_message };
}
