/** The book with its journal: an event is on disk before it changes the book. */
import { join } from 'node:path';
import { openAppendLog } from '../kit/append-log.ts';
import { createBook, type Book } from './book.ts';
import { eventSchema, type Posting, type VenueEvent } from './events.ts';

/** Events that only count calls: no response depends on them, so they are not flushed to disk. */
const COUNTS: readonly VenueEvent['type'][] = ['called', 'transfer_called'];

/** An event without its time; the ledger adds the time. */
type Unstamped<Event> = Event extends VenueEvent ? Omit<Event, 'at'> : never;

export interface Ledger {
  readonly book: Book;
  /** Writes `event` to disk and applies it to the book, in one synchronous step. */
  record(event: Unstamped<VenueEvent>): void;
  close(): void;
}

/**
 * Opens the ledger in `dataDir` and replays it. A new ledger starts with `opening`.
 *
 * @throws Error when the ledger there belongs to another chain, wallet or token (`identity`
 * differs).
 */
export function openLedger(
  dataDir: string,
  opening: { readonly identity: string; readonly postings: readonly Posting[] },
): Ledger {
  const file = join(dataDir, 'ledger.jsonl');
  const journal = openAppendLog(file, eventSchema);
  const book = createBook();
  for (const event of journal.events) book.apply(event);
  const record = (event: Unstamped<VenueEvent>): void => {
    const stamped: VenueEvent = { ...event, at: new Date().toISOString() };
    journal.append(stamped, !COUNTS.includes(event.type));
    book.apply(stamped);
  };
  if (book.identity() === undefined) {
    record({ type: 'opened', identity: opening.identity, postings: [...opening.postings] });
  } else if (book.identity() !== opening.identity) {
    journal.close();
    throw new Error(
      `${file} was written for another chain (${book.identity()}, now ${opening.identity}); ` +
        'keep ledger and chain together, or remove both',
    );
  }
  return { book, record, close: () => journal.close() };
}
