/**
 * A bank, as an executor sees one: it pays at every request, and its statement can be searched by
 * the payer's reference. Replace it with your provider's client.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openAppendLog } from '../../executor-kit/append-log.ts';

const postingSchema = z.object({
  id: z.string(),
  reference: z.string(),
  to: z.string(),
  asset: z.string(),
  amount: z.string(),
  booked_at: z.number(),
});
export type Posting = z.infer<typeof postingSchema>;
export type Payment = Pick<Posting, 'to' | 'asset' | 'amount'>;

export interface Bank {
  /** Moves money, each time it is called. */
  pay(reference: string, payment: Payment): Promise<Posting>;
  find(reference: string): Promise<Posting | undefined>;
  count(reference: string): Promise<number>;
  available(asset: string): Promise<bigint>;
  /** Whether the money is with the receiver: some time after the booking. */
  hasCleared(posting: Posting): boolean;
  close(): void;
}

const OPENING_BALANCE = toUnits('1000000');
const NETWORK_MS = 15;

/** The bank whose statement is kept in `file`; money clears `clearingMs` after its booking. */
export function openBank(file: string, clearingMs = 100): Bank {
  const log = openAppendLog(file);
  const postings = log.lines.map((line) => postingSchema.parse(line));
  const of = (reference: string): Posting[] =>
    postings.filter((posting) => posting.reference === reference);
  return {
    pay: async (reference, payment) => {
      await sleep(NETWORK_MS);
      const posting = { id: randomUUID(), reference, ...payment, booked_at: Date.now() };
      log.append(posting);
      postings.push(posting);
      await sleep(NETWORK_MS);
      return posting;
    },
    find: async (reference) => of(reference)[0],
    count: async (reference) => of(reference).length,
    available: async (asset) =>
      postings
        .filter((posting) => posting.asset === asset)
        .reduce((left, { amount }) => left - toUnits(amount), OPENING_BALANCE),
    hasCleared: (posting) => Date.now() - posting.booked_at >= clearingMs,
    close: () => log.close(),
  };
}

/** A decimal string in units of 10^-18, exact. */
export function toUnits(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0').slice(0, 18));
}
