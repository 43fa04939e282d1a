/** Movement and output that both variants of the demo share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BodyOf, FundClient, Movement, ResultOf } from '../clients/http/index.ts';
import type { ChainInfo } from './stack/chain.ts';

type TimelineEvent = ResultOf<'getMovementTimeline'>[number];
type Made = Pick<Movement, 'movement_id'>;

export const AMOUNT = '250.5';

/** Events after which the movement has ended or needs a person. */
const RESTING: readonly string[] = [
  ...['completed', 'failed', 'rejected', 'expired', 'cancelled', 'attention'],
].map((end) => `request_${end}`);

/** Returns the body that creates the demo's movement. */
export function demoMovement(
  template: { readonly template_key: string; readonly version: number },
  chain: ChainInfo,
): BodyOf<'createMovement'> {
  return {
    template_key: template.template_key,
    template_version: template.version,
    intent: {
      asset: 'USDC',
      amount: AMOUNT,
      source_venue: 'paper-main',
      destination_address: chain.accounts.treasury.address,
      chain_id: chain.chainId,
    },
    strategy_id: 'demo',
    labels: { purpose: 'demo' },
  };
}

/** Prints a movement's timeline, each event once when it appears. */
export class Story {
  readonly #api: FundClient;
  readonly #movement: Made;
  readonly #patienceMs: number;
  readonly #everyMs: number;
  readonly #deadline: number;
  #shown = 0;
  /** Number of submit events printed. */
  submits = 0;

  /** Reads the timeline every `everyMs`, for at most `patienceMs` in total. */
  constructor(
    api: FundClient,
    movement: Made,
    { patienceMs, everyMs }: { readonly patienceMs: number; readonly everyMs: number },
  ) {
    this.#api = api;
    this.#movement = movement;
    this.#patienceMs = patienceMs;
    this.#everyMs = everyMs;
    this.#deadline = Date.now() + patienceMs;
  }

  /** Prints new events until one of them is `wanted`. */
  async until(wanted: (event: TimelineEvent) => boolean): Promise<void> {
    const { movement_id } = this.#movement;
    for (;;) {
      let found = false;
      for (const event of await this.#api.movements.timeline(movement_id)) {
        if (event.sequence <= this.#shown) continue;
        say(`  ${line(event)}`);
        this.#shown = event.sequence;
        if (event.event_type === 'node_submitting') this.submits += 1;
        found ||= wanted(event);
      }
      if (found) return;
      if (Date.now() > this.#deadline) {
        const movement = await this.#api.movements.get(movement_id);
        throw new Error(
          `The movement is still ${movement.request_state} after ${this.#patienceMs / 1000} s. Look at ${movement.workflow.ui_url} and at the logs in the data folder.`,
        );
      }
      await sleep(this.#everyMs);
    }
  }

  /** Prints events until the movement has ended or needs a person; returns the movement. */
  async end(): Promise<Movement> {
    await this.until(({ event_type }) => RESTING.includes(event_type));
    return this.#api.movements.get(this.#movement.movement_id);
  }
}

function line(event: TimelineEvent): string {
  const what =
    event.node_key === null ? event.event_type : `${event.node_key} · ${event.event_type}`;
  return `${event.occurred_at.slice(11, 23)}  ${what.padEnd(34)} ${event.message}`;
}

/** Prints to standard error; standard output is for the one JSON line at the end. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
