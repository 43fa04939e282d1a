/**
 * What a stopping worker does with running work. It waits for sends and never aborts them. It
 * abandons at once every call that another worker may repeat, which costs the node no attempt.
 */
import { callOptions, endingBy } from './call.ts';
import { lookAgain } from './failures.ts';
import { ExecutorFault, type CallOptions } from '../domain/executor.ts';

/** Identifies a send, from its fence until its answer is recorded. */
export type Send =
  { readonly movement_id: string; readonly node_key: string } | { readonly transfer_id: string };

/**
 * A dependency of phases and of looks at transfers; when left out, calls do not end with the
 * worker.
 */
export interface Leaves {
  readonly leaving?: Leaving;
}

/** Seconds until another worker may take the work that a stopping worker abandons. */
export const AGAIN_SECONDS = 0.05;

export class Leaving {
  #left = false;
  readonly #sends = new Set<Send>();
  readonly #givingUp = new Set<() => void>();
  #ended: () => void = () => undefined;

  /** Abandons all repeatable calls, now and from now on; only sends may still end. */
  leave(): void {
    this.#left = true;
    for (const giveUp of this.#givingUp) giveUp();
  }

  get left(): boolean {
    return this.#left;
  }

  /** The sends under way. */
  get sends(): readonly Send[] {
    return [...this.#sends];
  }

  /** Resolves once no send is under way. */
  async whenSent(): Promise<void> {
    while (this.#sends.size > 0) await new Promise<void>((resolve) => (this.#ended = resolve));
  }

  async sending<T>(send: Send, work: () => Promise<T>): Promise<T> {
    this.#sends.add(send);
    try {
      return await work();
    } finally {
      this.#sends.delete(send);
      this.#ended();
    }
  }

  /**
   * Runs `call` until it ends, this worker stops, or `seconds` are over. A call whose activity is
   * cancelled may still have an answer, so only its signal aborts.
   *
   * @throws ExecutorFault `EXECUTOR_TIMEOUT` when the time is over.
   * @throws a failure that makes another worker repeat the activity, when this worker stops.
   */
  async repeatable<T>(call: (options: CallOptions) => Promise<T>, seconds = Infinity): Promise<T> {
    if (this.#left) throw stopping();
    const options = callOptions();
    // One controller in place of `AbortSignal.any` and `AbortSignal.timeout`, which are slow to
    // make and keep the joined signals in memory (platform/deadline.ts).
    const ending = new AbortController();
    const onCancel = (): void => ending.abort(options.signal.reason);
    let end: (reason: Error) => void = () => undefined;
    // Not every call ends when its signal aborts, so the race below does not wait for the call.
    const over = new Promise<never>((_, reject) => {
      end = (reason) => {
        reject(reason);
        ending.abort(reason);
      };
    });
    over.catch(() => undefined);
    const giveUp = (): void => end(stopping());
    const ms = seconds * 1_000;
    const isLimited = Number.isFinite(ms);
    const timer = isLimited ? setTimeout(() => end(timedOut(seconds)), ms) : undefined;
    if (options.signal.aborted) onCancel();
    else options.signal.addEventListener('abort', onCancel, { once: true });
    this.#givingUp.add(giveUp);
    try {
      const limited = isLimited ? endingBy(options, ms) : options;
      return await Promise.race([over, call({ ...limited, signal: ending.signal })]);
    } finally {
      this.#givingUp.delete(giveUp);
      options.signal.removeEventListener('abort', onCancel);
      clearTimeout(timer);
    }
  }
}

function stopping(): Error {
  return lookAgain('this worker stops; another repeats the activity', AGAIN_SECONDS);
}

function timedOut(seconds: number): ExecutorFault {
  const message = `no answer within ${String(seconds)} s`;
  return new ExecutorFault('timeout', 'EXECUTOR_TIMEOUT', message);
}

/** Runs `work` as a send: a stopping worker waits for it. */
export function sending<T>({ leaving }: Leaves, send: Send, work: () => Promise<T>): Promise<T> {
  return leaving === undefined ? work() : leaving.sending(send, work);
}

/** Runs `call`, which a stopping worker abandons; see {@link Leaving.repeatable}. */
export function repeatable<T>(
  { leaving = new Leaving() }: Leaves,
  call: (options: CallOptions) => Promise<T>,
  seconds?: number,
): Promise<T> {
  return leaving.repeatable(call, seconds);
}

/** Returns the name of the send for a log line. */
export function nameOf(send: Send): string {
  return 'transfer_id' in send
    ? `capital transfer ${send.transfer_id}: submit`
    : `movement ${send.movement_id} node ${send.node_key}: submit`;
}
