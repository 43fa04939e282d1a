/** The journal on disk and the book computed from it. */
import { openAppendLog } from '../kit/append-log.ts';
import { emptyBook, note, type Book } from './book.ts';
import { entrySchema, type Effect, type Entry } from './events.ts';

export interface Store {
  readonly book: Book;
  readonly entries: readonly Entry[];
  /** Appends an entry to the journal and applies it to the book; on return the entry is on disk. */
  append(entry: Entry): void;
  /** Returns the book as of `time`, for responses that lag behind. */
  bookAt(time: number): Book;
  close(): void;
}

/**
 * Opens `file`, and creates it when missing; drops an incomplete last line, which a killed process
 * left before anything acted on it.
 *
 * @throws Error when a complete line is not an entry.
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

/** Appends effects observed on the chain or made by an admin, with the present time. */
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
