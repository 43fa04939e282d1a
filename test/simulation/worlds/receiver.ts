/** Where callbacks arrive: an endpoint with books, over a network that loses and repeats. */
import type { AttemptOutcome } from '../../../domain/callbacks/settlement.ts';
import type { Machine } from '../machine/machine.ts';

/** What befalls a callback on its way. */
export type CallbackFault = 'lost request' | 'lost answer' | 'refused';

export interface Received {
  readonly event_id: string;
  readonly movement_id: string;
  readonly sequence: number;
  readonly event_type: string;
}

export interface ReceiverOptions {
  readonly machine: Machine;
  readonly fault: () => CallbackFault | null;
}

/** Milliseconds until a caller without an answer gives up. */
const PATIENCE_MS = 10_000;

export class Receiver {
  readonly received: Received[] = [];
  readonly #options: ReceiverOptions;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Takes a callback as the relay posts it. */
  async post({ body }: { readonly body: string }): Promise<AttemptOutcome> {
    const { machine, fault } = this.#options;
    const { event_id, movement_id, sequence, event_type } = JSON.parse(body) as Received;
    const suffered = await machine.step(
      `callback ${String(sequence)} of ${movement_id}`,
      async () => {
        const found = fault();
        if (found !== 'lost request' && found !== 'refused')
          this.received.push({ event_id, movement_id, sequence, event_type });
        return found;
      },
    );
    if (suffered === 'refused') return { kind: 'answered', status: 503 };
    if (suffered === null)
      return machine.step('callback answered', async () => ({ kind: 'answered', status: 204 }));
    await new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS));
    return { kind: 'failed', reason: 'timeout' };
  }
}
