/**
 * Sends the callbacks of the outbox, several movements at once. Callbacks of one movement are sent
 * one at a time, by `sequence`. A later callback overtakes one that waits for its next attempt, so
 * the called host must order them by `sequence`, not by arrival.
 */
import type { Logger } from 'pino';
import {
  isDelivery,
  settle,
  type AttemptOutcome,
  type ClaimedCallback,
} from '../../domain/callbacks/settlement.ts';
import type { CallbackSigner } from '../../platform/callback-signature.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import { guardedPost, POST_LIMIT_MS, type GuardedPost } from '../../platform/outgoing/post.ts';
import { traceCall } from '../../platform/tracing.ts';
import type { Database } from '../../prisma/client.ts';
import { claimCallbacks, settleCallback } from '../../store/callbacks.ts';

/** Most movements whose callbacks are sent at the same time. */
const CONCURRENCY = 16;
/**
 * Seconds of a callback's lease: longer than an attempt and its record take. After that, another
 * process sends the callbacks of a process that died.
 */
const LEASE_SECONDS = POST_LIMIT_MS / 1_000 + 5;
const NO_HOSTS: ReadonlySet<string> = new Set();

export interface CallbackRelayOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly allowedHosts: ReadonlySet<string>;
  /**
   * Signs a callback; null when no secret is set. Without a secret every host counts as not
   * allowed, so nothing is sent unsigned.
   */
  readonly sign: CallbackSigner | null;
  readonly maxAttempts: number;
  readonly pauseMs?: number;
  readonly post?: (post: GuardedPost) => Promise<AttemptOutcome>;
}

/**
 * Starts the relay. It holds leases, not database transactions, during the calls. `stop` waits for
 * running attempts.
 */
export function startCallbackRelay(options: CallbackRelayOptions): Loop {
  const { db, log, pauseMs = 250 } = options;
  const running = new Set<Promise<void>>();
  let stopped = false;
  const begin = (first: ClaimedCallback): void => {
    const line = sendLine(options, first, () => stopped)
      // If recording fails, the callback's lease expires, and the callback is then sent again.
      .catch((error: unknown) =>
        log.warn(
          { err: error, ...subjectOf(first) },
          'a callback was not recorded and is sent again',
        ),
      )
      .finally(() => {
        running.delete(line);
        // Its next message was not claimed while this one was under way.
        if (first.webhook !== null) loop.poke();
      });
    running.add(line);
  };
  const loop = startLoop({
    name: 'callback relay',
    pauseMs,
    log,
    work: async () => {
      if (running.size >= CONCURRENCY) await Promise.race(running);
      const due = await claimCallbacks(db, {
        limit: CONCURRENCY - running.size,
        leaseSeconds: LEASE_SECONDS,
      });
      due.forEach(begin);
      return due.length > 0;
    },
  });
  return {
    poke: () => loop.poke(),
    stop: async () => {
      stopped = true;
      await loop.stop();
      await Promise.all(running);
    },
  };
}

/** Sends a movement's callbacks one after the other for as long as the next one is due. */
async function sendLine(
  options: CallbackRelayOptions,
  first: ClaimedCallback,
  stopped: () => boolean,
): Promise<void> {
  const { movement_id } = first;
  for (let next: ClaimedCallback | undefined = first; next !== undefined;) {
    await sendOne(options, next);
    if (stopped() || movement_id === null) return;
    [next] = await claimCallbacks(options.db, {
      limit: 1,
      leaseSeconds: LEASE_SECONDS,
      movementId: movement_id,
    });
  }
}

/** Makes one attempt, signed with the current time, and records its outcome. */
async function sendOne(options: CallbackRelayOptions, callback: ClaimedCallback): Promise<void> {
  const { db, log, sign, maxAttempts, post = guardedPost } = options;
  const allowedHosts = sign === null ? NO_HOSTS : options.allowedHosts;
  const { event_id, nonce, payload, url } = callback;
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = sign?.({ event_id, nonce, timestamp, body: payload }) ?? {};
  const outcome = await traceCall({
    name: `${callback.webhook === null ? 'callback' : 'webhook'} ${callback.event_type}`,
    parent: callback.trace_parent,
    work: () => post({ url, headers, body: payload, allowedHosts }),
    describe: (ended) => describeAttempt(callback, ended),
  });
  const settlement = settle(callback, outcome, maxAttempts);
  const written = await settleCallback(db, settlement);
  if (written && settlement.status === 'dead_letter') {
    const { attempts, last_error } = settlement;
    log.warn(
      { ...subjectOf(callback), callback_event_id: event_id, attempts, reason: last_error },
      'a callback is a dead letter',
    );
  }
}

/** Returns what the span of an attempt says; no URL and no body, which callers wrote. */
function describeAttempt({ event_id, attempts }: ClaimedCallback, outcome: AttemptOutcome) {
  const about = { callback_event_id: event_id, attempt: attempts + 1 };
  return outcome.kind === 'answered'
    ? {
        failed: !isDelivery(outcome.status),
        attributes: { ...about, 'http.response.status_code': outcome.status },
      }
    : { failed: true, attributes: { ...about, 'error.type': outcome.reason } };
}

function subjectOf({ movement_id, transfer_id, webhook }: ClaimedCallback) {
  return { movement_id, transfer_id, webhook };
}
