/** The journal on disk and the book that follows from it. */
import { openAppendLog } from '../kit/append-log.ts';
import { emptyBook, note, type Book } from './book.ts';
import { entrySchema, type Effect, type Entry } from './events.ts';

export interface Store {
  readonly book: Book;
  readonly entries: readonly Entry[];
  /** On return the entry is on disk, and true. */
  append(entry: Entry): void;
  /** The book as it was then, for answers that lag behind. */
  bookAt(time: number): Book;
  close(): void;
}

/**
 * Opens `file`, creating it when missing; a last line that a kill cut off is dropped, since nothing
 * had acted on it.
 *
 * @throws Error when a complete line is no entry.
 */
export function openStore(file: string): Store {
  const log = openAppendLog(file, entrySchema);
  const entries = [...log.events];
  const book = bookOf(entries);
  return {
    book,
    entries,
    append: (entry) => {
      log.append(entry);
      entries.push(entry);
      note(book, entry);
    },
    bookAt: (time) => bookOf(entries.filter(({ at }) => at <= time)),
    close: log.close,
  };
}

/** Appends what was seen on the chain or changed by an admin, as of now. */
export function record(
  store: Store,
  kind: 'chain' | 'admin',
  effects: readonly Effect[],
  at = Date.now(),
): void {
  store.append({ kind, at, effects: [...effects] });
}

function bookOf(entries: readonly Entry[]): Book {
  const book = emptyBook();
  for (const entry of entries) note(book, entry);
  return book;
}
