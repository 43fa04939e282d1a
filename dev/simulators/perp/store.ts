/** The journal on disk and the book that follows from it. */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
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
  mkdirSync(dirname(file), { recursive: true });
  const entries = load(file);
  const book = bookOf(entries);
  const descriptor = openSync(file, 'a', 0o600);
  let open = true;
  const close = (): void => {
    if (open) closeSync(descriptor);
    open = false;
  };
  return {
    book,
    entries,
    append: (entry) => {
      // The number of a closed descriptor may belong to another file by now.
      if (!open) throw new Error(`${file} is closed`);
      try {
        writeWhole(descriptor, Buffer.from(`${JSON.stringify(entry)}\n`));
        fdatasyncSync(descriptor);
      } catch (error) {
        // Half a line may stand there now: nothing may follow it, and the next start drops it.
        close();
        throw error;
      }
      entries.push(entry);
      note(book, entry);
    },
    bookAt: (time) => bookOf(entries.filter(({ at }) => at <= time)),
    close,
  };
}

function writeWhole(descriptor: number, line: Buffer): void {
  for (let written = 0; written < line.length;) written += writeSync(descriptor, line, written);
}

/** Appends what was seen on the chain or asked for by an admin, as of now. */
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

function load(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  const lines = text.slice(0, end).split('\n').slice(0, -1);
  return lines.map((line, index) => {
    try {
      return entrySchema.parse(JSON.parse(line));
    } catch (cause) {
      throw new Error(`Line ${String(index + 1)} of ${file} is damaged.`, { cause });
    }
  });
}
