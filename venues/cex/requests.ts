/** Sends the requests of one API key within the budget that all processes share. */
import { createHash, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestBudget, RequestDesk, Turn } from '../../domain/request-desk.ts';
import { createTurnstile, type Leaver } from '../../platform/turnstile.ts';
import type { Spacing } from './dialect.ts';

interface Key {
  /** SHA-256 of the API key, as hex digits. */
  readonly key: string;
  readonly budget: RequestBudget;
  /** Whether only one request of the key may be under way, over all processes. */
  readonly oneAtATime: boolean;
  /** Longest time of one request, with the waits for its turn and its budget. */
  readonly timeoutMs: number;
}

export interface Requests {
  /** Waits until a request of this cost may be sent. Throws the signal's reason if it aborts. */
  before(cost: number, signal: AbortSignal): Promise<void>;
  /**
   * Waits until `seconds` have passed since the last request of this name with the key, over all
   * processes. Throws the signal's reason if it aborts.
   */
  spaced(spacing: Spacing, signal: AbortSignal): Promise<void>;
  /**
   * Runs `work` in the key's turn, with its nonce; null for a key that needs no turns. `work` must
   * end with the signal, and the signal must abort within `timeoutMs`: then the turn may go to
   * another process. Throws the signal's reason if it aborts before `work` starts.
   */
  inTurn<T>(work: (nonce: string | null) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** The exchange limits the key: stops all processes. */
  limited(milliseconds: number): Promise<void>;
}

/** Added to a turn's time: the request ends itself before another process may take the turn. */
const TURN_MARGIN_MS = 1_000;
/** Between two attempts to take a turn, from and below: not all processes at the same moment. */
const TURN_PAUSE_MS = [25, 51] as const;
/** Between two attempts to reserve budget, while the wait for it is too long. */
const BUDGET_PAUSE_MS = [200, 401] as const;

export function createRequests(
  desk: RequestDesk,
  { key, budget, oneAtATime, timeoutMs }: Key,
): Requests {
  const turnMs = timeoutMs + TURN_MARGIN_MS;
  // The calls of this process wait here, so that only the first of them polls the database.
  const line = createTurnstile({ places: 1, waitMs: timeoutMs });
  return {
    before: (cost, signal) =>
      // Half of the time: the other half is for the request itself.
      waitForBudget((within) => desk.take(key, cost, budget, within), {
        withinMs: timeoutMs / 2,
        stoppedFor: () => desk.stoppedFor(key),
        signal,
      }),
    spaced: ({ name, seconds }, signal) => {
      // A row of its own at the desk, which holds one request in this time.
      const named = createHash('sha256').update(`${key} ${name}`).digest('hex');
      const one: RequestBudget = { capacity: 1, units_per_second: 1 / seconds };
      return waitForBudget((within) => desk.take(named, 1, one, within), {
        withinMs: timeoutMs / 2,
        stoppedFor: () => desk.stoppedFor(key),
        signal,
      });
    },
    async inTurn(work, signal) {
      if (!oneAtATime) return work(null);
      const leave = await line.enter(leaverOf(signal)).catch(aborted(signal));
      try {
        const turn = await waitForTurn(() => desk.takeTurn(key, turnMs), signal);
        try {
          signal.throwIfAborted();
          return await work(turn.nonce);
        } finally {
          // Not waited for: a slow database must not lose an answer of the exchange. A turn that is
          // not released ends with its time.
          void turn.release().catch(() => undefined);
        }
      } finally {
        // Other processes poll: without a pause the next call here would always be before them.
        setTimeout(leave, randomInt(...TURN_PAUSE_MS));
      }
    },
    limited: (milliseconds) => desk.stop(key, milliseconds),
  };
}

async function waitForBudget(
  take: (withinMs: number) => Promise<number | null>,
  {
    withinMs,
    stoppedFor,
    signal,
  }: {
    readonly withinMs: number;
    readonly stoppedFor: () => Promise<number>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const wait = await take(withinMs);
    if (wait === 0) break;
    await pause(wait ?? randomInt(...BUDGET_PAUSE_MS), signal);
    // A stop that came during the wait needs a new reservation: otherwise all requests that waited
    // would be sent together at its end.
    if (wait !== null && (await stoppedFor()) === 0) break;
  }
  signal.throwIfAborted();
}

async function waitForTurn(take: () => Promise<Turn | null>, signal: AbortSignal): Promise<Turn> {
  for (;;) {
    signal.throwIfAborted();
    const turn = await take();
    if (turn !== null) return turn;
    await pause(randomInt(...TURN_PAUSE_MS), signal);
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(aborted(signal));
}

/** Returns a caller that leaves the line when the signal aborts. */
function leaverOf(signal: AbortSignal): Leaver {
  return {
    get closed() {
      return signal.aborted;
    },
    once: (_event, then) => {
      signal.addEventListener('abort', then, { once: true });
    },
    off: (_event, then) => {
      signal.removeEventListener('abort', then);
    },
  };
}

/** A timer and a line throw errors of their own; callers compare with the signal's reason. */
function aborted(signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    signal.throwIfAborted();
    throw error;
  };
}
