/** The capital transfers of a run, as their callers lead them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, type Caller } from './caller.ts';
import type { Dice } from './random.ts';

export interface CapitalLife {
  readonly idempotency_key: string;
  readonly body: { readonly amount: string; readonly [field: string]: string };
  readonly delay_ms: number;
  /** The create is sent once more, as a caller does that did not get its answer. */
  readonly repeats: boolean;
  transfer_id: string | null;
  /** The code with which it was refused; nothing may have been moved then. */
  refused: string | null;
  /** Answers that contradict earlier answers. */
  readonly complaints: string[];
}

const WAYS = [
  { source_venue: 'paper-main', destination_venue: 'paper-sub-a' },
  {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-b',
    destination_account_type: 'USDT_FUTURE',
  },
  { source_venue: 'paper-sub-a', destination_venue: 'paper-main' },
  {
    source_venue: 'paper-sub-b',
    destination_venue: 'paper-sub-b',
    destination_account_type: 'USDT_FUTURE',
  },
] as const;

/** What will be moved, drawn before the run begins, with the serials from `first` on. */
export function planTransfers(
  dice: Dice,
  count: number,
  seed: number,
  first = 0,
): readonly CapitalLife[] {
  return Array.from({ length: count }, (_, index) => ({
    idempotency_key: `fault-run-${seed}-transfer-${first + index}`,
    body: {
      ...dice.pick(WAYS),
      asset: 'USDT',
      amount: `${dice.between(1, 20)}.${String(first + index).padStart(4, '0')}1`,
      reason: 'fault run',
    },
    delay_ms: dice.between(0, 1_000),
    repeats: dice.chance(0.3),
    transfer_id: null,
    refused: null,
    complaints: [],
  }));
}

/** Asks for the transfer until it is known whether there is one. */
export async function transfer(
  life: CapitalLife,
  around: { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<void> {
  await sleep(life.delay_ms, undefined, { signal: around.signal });
  await ask(life, around.caller);
  if (life.repeats && life.refused === null) await ask(life, around.caller);
}

async function ask(life: CapitalLife, caller: Caller): Promise<void> {
  const { idempotency_key, body, transfer_id: known } = life;
  const answer = await caller.call('POST', '/capital-transfers', {
    body: { ...body, idempotency_key },
  });
  const id = answer.body['transfer_id'];
  if (answer.status === 409 && known === null) {
    life.refused = errorCode(answer.body) ?? 'unknown';
    return;
  }
  if ((answer.status !== 201 && answer.status !== 200) || typeof id !== 'string') {
    life.complaints.push(
      `${idempotency_key} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
    );
    return;
  }
  if (known !== null && (id !== known || answer.status !== 200))
    life.complaints.push(`${idempotency_key} was ${known}, its repeat ${id}`);
  if (known === null && answer.status === 200 && answer.doubts === 0)
    life.complaints.push(`the first ${idempotency_key} answered 200`);
  life.transfer_id = id;
}
