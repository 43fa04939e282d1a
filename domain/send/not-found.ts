/**
 * Decides what a "not found" proves about a send without a usable answer, and what follows. Times
 * are by the database's clock, and longer by what that is ahead of the looking process's clock.
 */

/** The facts about a send of which a query found no trace. */
export interface Unfound {
  /**
   * Milliseconds until the last send must have ended; negative if that time has passed. Null: no
   * send can be under way.
   */
  readonly send_left_ms: number | null;
  /** Seconds after a send in which its effect may still appear. */
  readonly settle_seconds: number;
  /** Whether a send with the same key can be repeated without a second effect. */
  readonly same_key_safe: boolean;
  /** Whether a decision of the operator is pending; nothing is sent meanwhile. */
  readonly with_person: boolean;
  /** Whether no send with this key is stored although a restored database may have lost one. */
  readonly never_sent: boolean;
  /**
   * Whether the send was accepted once. Then it exists, and "not found" only means that an index
   * lags.
   */
  readonly accepted: boolean;
  /** Whether the operator has allowed to send this key again although it was accepted once. */
  readonly may_resend: boolean;
  /** Number of sends that did not land, including the last one. */
  readonly sends: number;
  readonly most_sends: number;
  /** Whether the plan's time limit for the send has passed. */
  readonly is_late: boolean;
  /** Whether a late send that is proven not to have landed fails, or waits for the operator. */
  readonly when_late: 'fail' | 'person';
}

export type AfterNotFound =
  /** "Not found" proves nothing yet: look again after `seconds`. */
  | { readonly next: 'wait'; readonly seconds: number }
  /**
   * It is proven that nothing landed: send the same key and bytes again. `counts`: the lost send
   * counts against `most_sends`.
   */
  | { readonly next: 'send'; readonly counts: boolean }
  /** It is proven that nothing landed, and nothing is sent again. */
  | { readonly next: 'fail'; readonly why: 'late' | 'last' }
  /** "Not found" will never prove anything, or the operator has to decide. */
  | { readonly next: 'person'; readonly why: 'decides' | 'unsafe_key' | 'accepted' | 'late' };

/**
 * Returns the seconds until the last send can no longer have an effect; 0 when that time has
 * passed. The SQL function `unsettled_send` has the same rule, for an operator's statement about a
 * node.
 */
export function unsettledSeconds({
  send_left_ms,
  settle_seconds,
}: Pick<Unfound, 'send_left_ms' | 'settle_seconds'>): number {
  return send_left_ms === null ? 0 : Math.max(0, send_left_ms / 1000 + settle_seconds);
}

/**
 * Returns what to do when a query has found no trace of the send. The first rule that applies
 * decides.
 */
export function afterNotFound(send: Unfound): AfterNotFound {
  if (send.with_person) return { next: 'person', why: 'decides' };
  const seconds = unsettledSeconds(send);
  if (seconds > 0) return { next: 'wait', seconds };
  if (!send.same_key_safe) return { next: 'person', why: 'unsafe_key' };
  if (send.never_sent) return { next: 'send', counts: false };
  const isLast = send.sends >= send.most_sends;
  if (send.accepted && (!send.may_resend || isLast)) return { next: 'person', why: 'accepted' };
  // A send that was accepted once exists, however late it is.
  if (send.is_late && send.when_late === 'fail' && !send.accepted)
    return { next: 'fail', why: 'late' };
  if (isLast) return { next: 'fail', why: 'last' };
  if (send.is_late && send.when_late === 'person') return { next: 'person', why: 'late' };
  return { next: 'send', counts: true };
}
