/** The rules of one type of order. To add a type, add its rules to the server's list. */
import type { ExecutionContext } from '../../../../domain/executor.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import type { Book } from '../book.ts';
import type { Posting, Terms, Transfer } from '../events.ts';

/** A refusal with its node error code: nothing has happened, and nothing will. */
export interface Refusal {
  readonly error_code: string;
  readonly error_message: string;
}

export interface OrderPlan {
  /**
   * Balance changes when the order is accepted. Reversed when the order is cancelled or its
   * transfer reverts.
   */
  readonly postings: readonly Posting[];
  /** The payment on the chain; null when the balance changes are the whole order. */
  readonly transfer: Transfer | null;
}

export interface VenueAction {
  readonly actionType: string;
  /**
   * Returns the order that `context` requests, with all fields normalised, or why the order can
   * never be executed.
   */
  terms(context: ExecutionContext): Terms | Refusal;
  plan(terms: Terms): OrderPlan;
  /**
   * Returns why the books refuse the order now, apart from a lack of funds; null when they accept
   * it. Called at preflight and again at submit.
   */
  bar?(terms: Terms, book: Book): Refusal | null;
  /** Returns the output of the completed order. */
  output(terms: Terms, txHash: string | null): JsonObject;
}

/** Returns whether `value` is a refusal. Terms never have these fields. */
export function isRefusal(value: Terms | Refusal): value is Refusal {
  return 'error_code' in value;
}

export function refuse(error_code: string, error_message: string): Refusal {
  return { error_code, error_message };
}
