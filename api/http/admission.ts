/**
 * How many requests are worked on at once. The rest waits for a while, and gets 503 `overloaded`
 * when there is no room to wait or its time is over: before it was authenticated, and so before
 * anything of it was accepted.
 */
import { Counter, Gauge } from 'prom-client';
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import {
  createTurnstile,
  TurnedAway,
  type Leave,
  type TurnedAwayReason,
} from '../../platform/turnstile.ts';

export interface AdmissionOptions {
  /**
   * Requests that are worked on at once. Each holds a connection to the database for parts of its
   * time.
   */
  readonly running: number;
  /** Requests that wait for their turn at once. */
  readonly waiting: number;
  /** How long one waits at most: well within the time after which callers give up. */
  readonly waitMs: number;
}

export const ADMISSION: AdmissionOptions = { running: 64, waiting: 1_000, waitMs: 5_000 };

export interface Admission {
  /**
   * Resolves with what ends the request's turn; rejects with `overloaded`. `gone` fires when the
   * caller has hung up.
   */
  enter(gone: AbortSignal): Promise<Leave>;
}

const overloads = new Counter({
  name: 'svc_http_overloaded_total',
  help: 'Requests that were answered 503 overloaded: no room to wait (full), waited too long (late), or no connection was free (database), or bodies of unknown senders took too much memory (bodies), or an operator of the dashboard sent too many in a second (operator).',
  labelNames: ['reason'] as const,
});
const admitted = new Gauge({
  name: 'svc_http_requests_admitted',
  help: 'Requests in this process that are worked on (running) and that wait for their turn (waiting).',
  labelNames: ['state'] as const,
});

/** Counts one request that was not worked on. */
export function countOverload(
  reason: Exclude<TurnedAwayReason, 'left'> | 'database' | 'bodies' | 'operator',
): void {
  overloads.inc({ reason });
}

/**
 * A line of its own; warns once in a while when somebody is turned away, since each is counted
 * anyway.
 */
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
  let warned = -Infinity;

  const show = (): void => {
    admitted.set({ state: 'running' }, line.inside);
    admitted.set({ state: 'waiting' }, line.waiting);
  };
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
    enter: async (gone) => {
      try {
        const entering = line.enter(gone);
        show();
        const leave = await entering;
        show();
        return () => {
          leave();
          show();
        };
      } catch (error) {
        show();
        throw error instanceof TurnedAway ? turnedAway(error.reason) : error;
      }
    },
  };
}

const WARN_EVERY_MS = 10_000;

/** Spreads retries over some seconds; whole seconds, as the header requires. */
export const RETRY_AFTER_SECONDS = { least: 1, most: 3 };
let turn = 0;
export function retryAfterSeconds(): number {
  turn += 1;
  return (
    RETRY_AFTER_SECONDS.least + (turn % (RETRY_AFTER_SECONDS.most - RETRY_AFTER_SECONDS.least + 1))
  );
}
