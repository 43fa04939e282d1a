/** Waits for a state by polling, less often while nothing changes. */
import {
  ApiError,
  ClientUsageError,
  UnreachableError,
  WaitEndedError,
  WaitTimeoutError,
} from './errors.ts';
import { MOVEMENT_END_STATES, TRANSFER_END_STATES } from './generated/states.ts';
import type { ResultOf } from './operations.ts';
import { leavesOpen, LONGEST_TIMER_MS, pause, random } from './retry.ts';

export type Movement = ResultOf<'getMovement'>;
export type MovementState = Movement['request_state'];
export type Transfer = ResultOf<'getCapitalTransfer'>;
export type TransferState = Transfer['request_state'];

export interface WaitOptions<Seen> {
  /** How long to wait (default 600,000 ms). */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the first answer, and with each answer that differs from the previous answer. */
  readonly onChange?: ((seen: Seen) => void) | undefined;
}

/** What to wait for: one state, one of several states, or a condition. */
export type Target<Seen, State> = State | readonly State[] | ((seen: Seen) => boolean);

export type WaitFor = (
  movementId: string,
  target: Target<Movement, MovementState>,
  options?: WaitOptions<Movement>,
) => Promise<Movement>;
export type WaitForTransfer = (
  transferId: string,
  target: Target<Transfer, TransferState>,
  options?: WaitOptions<Transfer>,
) => Promise<Transfer>;

interface Wait<Seen, State> extends WaitOptions<Seen> {
  readonly id: string;
  readonly target: Target<Seen, State>;
  /** How long a started poll may continue after the deadline (default 30,000 ms). */
  readonly lookMs?: number | undefined;
}
type Look<Seen> = (signal: AbortSignal | undefined) => Promise<Seen>;

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/**
 * Polls until the movement is in the target state, then returns the movement.
 *
 * @throws WaitEndedError when the movement ended in another state.
 * @throws WaitTimeoutError when the time is over.
 */
export function waitForMovement(
  look: Look<Movement>,
  wait: Wait<Movement, MovementState>,
): Promise<Movement> {
  return poll(look, { ...wait, what: 'Movement', ends: MOVEMENT_END_STATES });
}

/** Like {@link waitForMovement}, for capital transfers. */
export function waitForTransfer(
  look: Look<Transfer>,
  wait: Wait<Transfer, TransferState>,
): Promise<Transfer> {
  return poll(look, { ...wait, what: 'Transfer', ends: TRANSFER_END_STATES });
}

interface Watched {
  readonly request_state: string;
  readonly error_code?: string | null;
}

type Polled<Seen extends Watched> = Wait<Seen, Seen['request_state']> & {
  readonly what: string;
  readonly ends: readonly string[];
};

/** Polls until the deadline. The last poll, with its retries, is aborted `lookMs` later. */
async function poll<Seen extends Watched>(look: Look<Seen>, wait: Polled<Seen>): Promise<Seen> {
  const { timeoutMs = 600_000, lookMs = 30_000 } = wait;
  if (Number.isNaN(timeoutMs)) throw new ClientUsageError('timeoutMs must be a number.');
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(timeoutMs + lookMs, LONGEST_TIMER_MS));
  const signals = [late.signal, ...(wait.signal === undefined ? [] : [wait.signal])];
  const last: Last = { state: null };
  try {
    return await looked(look, { ...wait, timeoutMs, signal: AbortSignal.any(signals), last });
  } catch (error) {
    if (error !== late.signal.reason) throw error;
    throw new WaitTimeoutError(nameOf(wait), last.state, timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

/** The state that was seen last; null before the first answer. */
interface Last {
  state: string | null;
}

function nameOf({ what, id }: { readonly what: string; readonly id: string }): string {
  return `${what} ${id}`;
}

async function looked<Seen extends Watched>(
  look: Look<Seen>,
  wait: Polled<Seen> & { readonly timeoutMs: number; readonly last: Last },
): Promise<Seen> {
  const { timeoutMs, signal, onChange, last } = wait;
  const name = nameOf(wait);
  const until = Date.now() + timeoutMs;
  let lastText = '';
  let waitMs = FIRST_WAIT_MS;
  for (;;) {
    const { seen, backOffMs }: Looked<Seen> = await lookOnce(look, signal, last.state !== null);
    if (seen === null) waitMs = Math.max(waitMs, backOffMs);
    else {
      const text = JSON.stringify(seen);
      const changed = text !== lastText;
      lastText = text;
      const state = (last.state = seen.request_state);
      if (changed) onChange?.(seen);
      if (isMeant(wait.target, seen)) return seen;
      if (wait.ends.includes(state)) throw new WaitEndedError(name, state, seen.error_code ?? null);
      waitMs = changed ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, waitMs * 1.5);
    }
    const left = until - Date.now();
    if (left <= 0) throw new WaitTimeoutError(name, last.state, timeoutMs);
    // The last poll is at the deadline, so that a state that is reached in time is seen.
    await pause(Math.min(left, waitMs * (0.75 + random() / 2)), signal);
  }
}

interface Looked<Seen> {
  /** The movement or transfer; null when the service did not answer. */
  readonly seen: Seen | null;
  /** The service's `Retry-After` in milliseconds; 0 without one. */
  readonly backOffMs: number;
}

/** Polls once. An unreachable service is an error only before the first successful poll. */
async function lookOnce<Seen>(
  look: Look<Seen>,
  signal: AbortSignal | undefined,
  wasSeen: boolean,
): Promise<Looked<Seen>> {
  try {
    return { seen: await look(signal), backOffMs: 0 };
  } catch (error) {
    const known = error instanceof ApiError || error instanceof UnreachableError;
    if (!wasSeen || !known || !leavesOpen(error)) throw error;
    const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
    return { seen: null, backOffMs: seconds * 1000 };
  }
}

function isMeant<Seen extends Watched>(
  target: Target<Seen, Seen['request_state']>,
  seen: Seen,
): boolean {
  if (typeof target === 'function') return target(seen);
  const states: readonly string[] = typeof target === 'string' ? [target] : target;
  return states.includes(seen.request_state);
}
