/**
 * "Not found": a send without a usable answer shows no trace. When that proves something, and what
 * follows. Times are those of the database's clock.
 */

/** The facts of a send of which nothing is found. */
export interface Unfound {
  /**
   * Milliseconds until the last send must have ended; negative ones have passed. Null: none can be
   * under way.
   */
  readonly send_left_ms: number | null;
  /** Seconds after a send in which its effect may still appear. */
  readonly settle_seconds: number;
  /** May a send with the same key be repeated without a second effect? */
  readonly same_key_safe: boolean;
  /** A person has to decide, and has not yet: nothing is sent meanwhile. */
  readonly with_person: boolean;
  /** No send of this key is stored, and a restored database may have forgotten one. */
  readonly never_sent: boolean;
  /** It was accepted once, so it exists: an index that lags hides it. */
  readonly accepted: boolean;
  /** A person has allowed to send its key again although it was accepted once. */
  readonly may_resend: boolean;
  /** Sends that did not land, the last one included. */
  readonly sends: number;
  readonly most_sends: number;
  /** Its time is over: the plan no longer waits for it. */
  readonly is_late: boolean;
  /** Whether a late send that is proven not to have landed fails, or goes to a person. */
  readonly when_late: 'fail' | 'person';
}

export type AfterNotFound =
  /** It proves nothing yet: look again after so many seconds. */
  | { readonly next: 'wait'; readonly seconds: number }
  /**
   * Proven that nothing landed: send the same key and bytes again. `counts`: the lost send counts
   * against `most_sends`.
   */
  | { readonly next: 'send'; readonly counts: boolean }
  /** Proven that nothing landed, and nothing is sent again. */
  | { readonly next: 'fail'; readonly why: 'late' | 'last' }
  /** It will never prove anything, or a person has to decide. */
  | { readonly next: 'person'; readonly why: 'decides' | 'unsafe_key' | 'accepted' | 'late' };

/**
 * Seconds until the last send can no longer have an effect; zero when that time has come. The SQL
 * function `unsettled_send` holds the same rule, for a person's word about a node.
 */
export function unsettledSeconds({
  send_left_ms,
  settle_seconds,
}: Pick<Unfound, 'send_left_ms' | 'settle_seconds'>): number {
  return send_left_ms === null ? 0 : Math.max(0, send_left_ms / 1000 + settle_seconds);
}

/** What follows when a look has found nothing. The first rule that applies counts. */
export function afterNotFound(send: Unfound): AfterNotFound {
  if (send.with_person) return { next: 'person', why: 'decides' };
  const seconds = unsettledSeconds(send);
  if (seconds > 0) return { next: 'wait', seconds };
  if (!send.same_key_safe) return { next: 'person', why: 'unsafe_key' };
  if (send.never_sent) return { next: 'send', counts: false };
  const isLast = send.sends >= send.most_sends;
  if (send.accepted && (!send.may_resend || isLast)) return { next: 'person', why: 'accepted' };
  // What was accepted once exists, however late it is.
  if (send.is_late && send.when_late === 'fail' && !send.accepted)
    return { next: 'fail', why: 'late' };
  if (isLast) return { next: 'fail', why: 'last' };
  if (send.is_late && send.when_late === 'person') return { next: 'person', why: 'late' };
  return { next: 'send', counts: true };
}
