/**
 * Limits how many requests are handled at once. Further requests wait for a while. A request gets
 * 503 `overloaded` when the queue is full or the wait was too long; this happens before
 * authentication, so nothing of the request was accepted.
 */
import { Counter, Gauge } from 'prom-client';
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import {
  createTurnstile,
  TurnedAway,
  type Leave,
  type Leaver,
  type Turnstile,
  type TurnedAwayReason,
} from '../../platform/turnstile.ts';

export interface AdmissionOptions {
  /** Requests handled at once; each holds a database connection for part of its time. */
  readonly running: number;
  /** Maximum number of waiting requests. */
  readonly waiting: number;
  /** Maximum wait of one request, in milliseconds: well below the timeouts of callers. */
  readonly waitMs: number;
}

export const ADMISSION: AdmissionOptions = { running: 64, waiting: 1_000, waitMs: 5_000 };

export interface Admission {
  /**
   * Resolves with a function that ends the request's turn; rejects with `overloaded`, also if the
   * response is closed before its turn comes.
   */
  enter(response: Leaver): Promise<Leave>;
}

const overloads = new Counter({
  name: 'svc_http_overloaded_total',
  help: 'Requests that were answered 503 overloaded: no room to wait (full), waited too long (late), or no connection was free (database), or bodies of unknown senders took too much memory (bodies), or an operator of the dashboard sent too many in a second (operator).',
  labelNames: ['reason'] as const,
});
/** The queue of this process; absent until there is one. */
let shown: Pick<Turnstile, 'inside' | 'waiting'> | undefined;
const admitted = new Gauge({
  name: 'svc_http_requests_admitted',
  help: 'Requests in this process that are worked on (running) and that wait for their turn (waiting).',
  labelNames: ['state'] as const,
  // Counted when the metrics are read, not three times in each request.
  collect: () => {
    if (shown === undefined) return;
    admitted.set({ state: 'running' }, shown.inside);
    admitted.set({ state: 'waiting' }, shown.waiting);
  },
});

/** Counts one request that was refused for overload. */
export function countOverload(
  reason: Exclude<TurnedAwayReason, 'left'> | 'database' | 'bodies' | 'operator',
): void {
  overloads.inc({ reason });
}

/** Creates a separate queue. Logs refusals only once in a while, since each is counted. */
export function createAdmission(
  options: AdmissionOptions,
  log: Pick<Logger, 'warn'>,
  now: () => number = Date.now,
): Admission {
  const line = createTurnstile({
    places: options.running,
    waiting: options.waiting,
    waitMs: options.waitMs,
  });
  shown = line;
  let warned = -Infinity;

  const turnedAway = (reason: TurnedAwayReason): ServiceError => {
    if (reason !== 'left') countOverload(reason);
    if (reason !== 'left' && now() - warned >= WARN_EVERY_MS) {
      warned = now();
      log.warn(
        { reason, running: line.inside, waiting: line.waiting },
        'overloaded: requests are turned away',
      );
    }
    return new ServiceError('overloaded');
  };

  return {
    enter: async (response) => {
      try {
        return await line.enter(response);
      } catch (error) {
        throw error instanceof TurnedAway ? turnedAway(error.reason) : error;
      }
    },
  };
}

const WARN_EVERY_MS = 10_000;

/** Spreads retries over some seconds; the header requires whole seconds. */
export const RETRY_AFTER_SECONDS = { least: 1, most: 3 };
let turn = 0;
export function retryAfterSeconds(): number {
  turn += 1;
  return (
    RETRY_AFTER_SECONDS.least + (turn % (RETRY_AFTER_SECONDS.most - RETRY_AFTER_SECONDS.least + 1))
  );
}
