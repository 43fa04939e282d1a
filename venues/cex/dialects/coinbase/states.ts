/**
 * Coinbase's statuses (docs/coinbase-facts.md, 9). What is not listed is pending: statuses "can
 * change over time", and no text says that the money of an `expired` send came back.
 */
import type { RecordStatus } from '../../dialect.ts';

const STATUSES: Readonly<Record<string, RecordStatus>> = {
  completed: 'completed',
  failed: 'failed',
  canceled: 'failed',
};

/** Returns the status of a transaction by its word alone. The page once prints one with a blank. */
export function statusOf(word: string): RecordStatus {
  const plain = word.trim();
  return Object.hasOwn(STATUSES, plain) ? (STATUSES[plain] ?? 'pending') : 'pending';
}
