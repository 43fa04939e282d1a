/**
 * An append-only file of events: one JSON line each, flushed to disk before anything acts on it.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { eventSchema, type VenueEvent } from './events.ts';

export interface Journal {
  /** What the file held when it was opened. */
  readonly events: readonly VenueEvent[];
  /**
   * Appends `event`; on return it survives a power cut when `durable`, else the end of this
   * process.
   */
  append(event: VenueEvent, durable: boolean): void;
  close(): void;
}

/**
 * Opens `file`, creating it when missing. A last line without an end was cut off by a crash before
 * anything acted on it, and is dropped.
 *
 * @throws Error when a complete line is not an event, since then nothing after it can be trusted.
 */
export function openJournal(file: string): Journal {
  mkdirSync(dirname(file), { recursive: true });
  const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const end = content.lastIndexOf(0x0a) + 1;
  const events = content
    .subarray(0, end)
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((line, index) => readLine(file, line, index + 1));
  const descriptor = openSync(file, 'a', 0o600);
  if (end < content.length) ftruncateSync(descriptor, end);
  syncFolder(dirname(file));
  let open = true;
  const close = (): void => {
    if (open) closeSync(descriptor);
    open = false;
  };
  return {
    events,
    append: (event, durable) => {
      // The number of a closed descriptor may belong to another file by now.
      if (!open) throw new Error(`${file} is closed`);
      try {
        writeWhole(descriptor, Buffer.from(`${JSON.stringify(event)}\n`));
        if (durable) fdatasyncSync(descriptor);
      } catch (error) {
        // Half a line may stand there now (a full disk): nothing may follow it, and the next start
        // drops it.
        close();
        throw error;
      }
    },
    close,
  };
}

function writeWhole(descriptor: number, line: Buffer): void {
  for (let written = 0; written < line.length;) written += writeSync(descriptor, line, written);
}

function readLine(file: string, line: string, number: number): VenueEvent {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new Error(`${file} line ${number} is not a ledger event; the ledger is damaged`, {
      cause,
    });
  }
}

/** A new file is only safe once its folder's entry is. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
