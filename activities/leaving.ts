/**
 * What a stopping worker does with running work: it waits for sends and never aborts them; it
 * abandons at once every call that another worker may repeat, which costs the node no attempt.
 */
import { callOptions } from './call.ts';
import { lookAgain } from './failures.ts';
import type { CallOptions } from '../domain/executor.ts';

/** A send from its fence to the record of its answer. */
export type Send =
  { readonly movement_id: string; readonly node_key: string } | { readonly transfer_id: string };

/** Part of the dependencies of phases and looks at transfers; left out: the worker never stops. */
export interface Leaves {
  readonly leaving?: Leaving;
}

/** How soon another worker may take what this one abandons. */
export const AGAIN_SECONDS = 0.05;

export class Leaving {
  #left = false;
  readonly #sends = new Set<Send>();
  readonly #givingUp = new Set<() => void>();
  #ended: () => void = () => undefined;

  /** From now on the worker waits for sends only. */
  leave(): void {
    this.#left = true;
    for (const giveUp of this.#givingUp) giveUp();
  }

  get left(): boolean {
    return this.#left;
  }

  /** Sends under way. */
  get sends(): readonly Send[] {
    return [...this.#sends];
  }

  /** Fulfilled once no send is under way. */
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

  /** @throws a failure that makes another worker repeat the activity, once this worker stops. */
  async repeatable<T>(call: (options: CallOptions) => Promise<T>): Promise<T> {
    const stops = lookAgain('its worker stops; another one goes on', AGAIN_SECONDS);
    if (this.#left) throw stops;
    const options = callOptions();
    const abort = new AbortController();
    let giveUp = (): void => undefined;
    // Not every call ends with its signal, so the race does not wait for it.
    const over = new Promise<never>((_, reject) => {
      giveUp = () => {
        reject(stops);
        abort.abort(stops);
      };
    });
    over.catch(() => undefined);
    this.#givingUp.add(giveUp);
    try {
      const signal = AbortSignal.any([options.signal, abort.signal]);
      return await Promise.race([over, call({ ...options, signal })]);
    } finally {
      this.#givingUp.delete(giveUp);
    }
  }
}

/** A send that is waited for when its worker stops. */
export function sending<T>({ leaving }: Leaves, send: Send, work: () => Promise<T>): Promise<T> {
  return leaving === undefined ? work() : leaving.sending(send, work);
}

/** A call that a stopping worker abandons; see {@link Leaving.repeatable}. */
export function repeatable<T>(
  { leaving }: Leaves,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  return leaving === undefined ? call(callOptions()) : leaving.repeatable(call);
}

/** The send as a line of a log names it. */
export function nameOf(send: Send): string {
  return 'transfer_id' in send
    ? `capital transfer ${send.transfer_id}: submit`
    : `movement ${send.movement_id} node ${send.node_key}: submit`;
}
