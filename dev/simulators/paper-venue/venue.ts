/** The venue's implementation of the six phases of the executor protocol. */
import { randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ExecutionContext, ExecutionResult } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { SubmitBody } from '../../../executors/protocol.ts';
import {
  isRefusal,
  refuse,
  type OrderPlan,
  type Refusal,
  type VenueAction,
} from './actions/action.ts';
import type { KeyRecord, Order } from './book.ts';
import type { VenueChain } from './chain.ts';
import { DEPOSIT_OBSERVE, type DepositObserver } from './deposit-observe.ts';
import type { Terms } from './events.ts';
import { VenueHttpError } from './http-error.ts';
import type { Ledger } from './ledger.ts';
import { createReporter } from './report.ts';
import type { Sender } from './sender.ts';
import { uncovered } from './transfer-terms.ts';

const CANCELLED = refuse('CANCELLED', 'the order was cancelled before it was sent');

export interface SubmitConditions {
  /** false: ignore earlier orders with the same key. */
  readonly deduplicate: boolean;
  readonly processing_ms: number;
}

export interface Venue {
  preflight(context: ExecutionContext): ExecutionResult | null;
  prepare(context: ExecutionContext): ExecutionResult;
  submit(body: SubmitBody, conditions: SubmitConditions): ExecutionResult;
  observe(context: ExecutionContext, deduplicate: boolean): Promise<ExecutionResult>;
  recover(context: ExecutionContext, deduplicate: boolean): Promise<ExecutionResult>;
  cancel(context: ExecutionContext, deduplicate: boolean): Promise<ExecutionResult>;
}

/**
 * Creates the venue for a ledger. Results report facts. When no true result is possible, a call
 * throws VenueHttpError: 409 IDEMPOTENCY_CONFLICT (this key belongs to another order), 404
 * ORDER_UNKNOWN, 409 CANCEL_NOT_POSSIBLE.
 */
export function createVenue(parts: {
  readonly ledger: Ledger;
  readonly chain: VenueChain;
  readonly sender: Sender;
  readonly actions: readonly VenueAction[];
  readonly observer: DepositObserver;
}): Venue {
  const { ledger, sender, observer } = parts;
  const actionOf = (type: string) => parts.actions.find((action) => action.actionType === type);
  const report = createReporter(parts);

  const termsOf = (context: ExecutionContext): Terms | Refusal =>
    actionOf(context.action_type)?.terms(context) ??
    refuse('ACTION_NOT_SUPPORTED', `the venue does not know ${context.action_type}`);

  /**
   * Returns the order of this call: by its reference, else by its idempotency key unless the venue
   * forgets keys.
   */
  const findOrder = (context: ExecutionContext, deduplicate: boolean): Order | undefined => {
    const order = ledger.book.order(context.prior?.external_ref ?? '');
    if (order?.idempotency_key === context.idempotency_key) return order;
    return deduplicate ? ledger.book.key(context.idempotency_key)?.orders[0] : undefined;
  };

  const submit = (body: SubmitBody, conditions: SubmitConditions): ExecutionResult => {
    const { context, prepared_action } = body;
    ledger.record({ type: 'called', ...callerOf(context) });
    const fingerprint = fingerprintOf(context.action_type, prepared_action);
    if (conditions.deduplicate) {
      const answer = firstAnswer(ledger.book.key(context.idempotency_key), fingerprint);
      if (answer !== null) return answer;
    }
    const entry = { ...callerOf(context), action_type: context.action_type, fingerprint };
    const order = newOrder(context, prepared_action);
    if ('error_code' in order) {
      ledger.record({ type: 'refused', ...entry, ...order });
      return failed(order);
    }
    const order_id = `paper-${randomUUID()}`;
    const not_before = Date.now() + conditions.processing_ms;
    const { terms, postings, transfer } = order;
    ledger.record({
      type: 'accepted',
      ...entry,
      order_id,
      terms,
      postings: [...postings],
      transfer,
      not_before,
    });
    // The result does not wait for the chain: the order is in the journal, so it will be paid even
    // if this process ends.
    void sender.wake();
    return { next_state: 'SUBMITTED', external_ref: order_id };
  };

  const newOrder = (
    context: ExecutionContext,
    prepared: JsonObject,
  ): (OrderPlan & { terms: Terms }) | Refusal => {
    const terms = termsOf(context);
    if (isRefusal(terms)) return terms;
    if (canonicalize(terms) !== canonicalize(prepared)) {
      return refuse(
        'PREPARED_ACTION_MISMATCH',
        'prepared_action is not what this context prepares',
      );
    }
    return planOf(context.action_type, terms);
  };

  const planOf = (type: string, terms: Terms): (OrderPlan & { terms: Terms }) | Refusal => {
    const action = actionOf(type);
    if (action === undefined)
      return refuse('ACTION_NOT_SUPPORTED', `the venue does not know ${type}`);
    const plan = action.plan(terms);
    return (
      action.bar?.(terms, ledger.book) ??
      uncovered(plan.postings, ledger.book.balance) ?? { terms, ...plan }
    );
  };

  return {
    preflight: (context) => {
      if (context.action_type === DEPOSIT_OBSERVE) return observer.preflight(context);
      const terms = termsOf(context);
      if (isRefusal(terms)) return failed(terms);
      const plan = planOf(context.action_type, terms);
      return 'error_code' in plan ? failed(plan) : null;
    },
    prepare: (context) => {
      const terms = termsOf(context);
      return isRefusal(terms)
        ? failed(terms)
        : { next_state: 'SUBMITTING', prepared_action: terms };
    },
    submit,
    observe: async (context, deduplicate) => {
      if (context.action_type === DEPOSIT_OBSERVE) return observer.look(context);
      const order = findOrder(context, deduplicate);
      if (order === undefined)
        throw new VenueHttpError(404, 'ORDER_UNKNOWN', 'no order of this key or reference');
      return report(order, context.completion_assurance);
    },
    recover: async (context, deduplicate) => {
      if (context.action_type === DEPOSIT_OBSERVE) return observer.look(context);
      const order = findOrder(context, deduplicate);
      if (order !== undefined) return report(order, context.completion_assurance);
      const known = deduplicate ? ledger.book.key(context.idempotency_key) : undefined;
      // Nothing was executed so far. A submit still in progress may yet be; the caller must wait
      // for that.
      return knownFailure(known) ?? { next_state: 'READY' };
    },
    cancel: async (context, deduplicate) => {
      if (context.action_type === DEPOSIT_OBSERVE) return { next_state: 'OBSERVING' };
      const order = findOrder(context, deduplicate);
      if (order?.state === 'accepted') {
        ledger.record({ type: 'cancelled', ...callerOf(context), order_id: order.order_id });
        return failed(CANCELLED);
      }
      if (order !== undefined) return report(order, context.completion_assurance);
      if (!deduplicate)
        throw new VenueHttpError(409, 'CANCEL_NOT_POSSIBLE', 'no order to cancel is known');
      const failure = knownFailure(ledger.book.key(context.idempotency_key));
      if (failure !== null) return failure;
      // The key is now used up, so a submit still in progress cannot be executed after this
      // response.
      ledger.record({ type: 'cancelled', ...callerOf(context), order_id: null });
      return failed(CANCELLED);
    },
  };
}

/**
 * Returns the result of the first submit with this key; null for a key that was never submitted.
 */
function firstAnswer(known: KeyRecord | undefined, fingerprint: string): ExecutionResult | null {
  if (known?.fingerprint !== undefined && known.fingerprint !== fingerprint) {
    throw new VenueHttpError(
      409,
      'IDEMPOTENCY_CONFLICT',
      'this idempotency key was used for another order',
    );
  }
  const order = known?.orders[0];
  return order === undefined
    ? knownFailure(known)
    : { next_state: 'SUBMITTED', external_ref: order.order_id };
}

/**
 * Returns the failure recorded for a key; null without one. A refusal is final for its key: an
 * order reported as failed must not be executed later under the same key.
 */
function knownFailure(known: KeyRecord | undefined): ExecutionResult | null {
  if (known?.refusal !== undefined) return failed(known.refusal);
  return known?.cancelled === true ? failed(CANCELLED) : null;
}

function failed({ error_code, error_message }: Refusal): ExecutionResult {
  return { next_state: 'FAILED', error_code, error_message };
}

function callerOf({ idempotency_key, movement_id, node_key }: ExecutionContext) {
  return { idempotency_key, movement_id, node_key };
}

function fingerprintOf(action_type: string, prepared_action: JsonObject): string {
  return canonicalize({ action_type, prepared_action }) ?? '';
}
