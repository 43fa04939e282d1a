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
import type { z } from 'zod';

/** A zod schema, or any parser that returns an event or throws. */
type Parser<Event> = Pick<z.ZodType<Event>, 'parse'>;

export interface AppendLog<Event> {
  /** Events that the file contained when it was opened. */
  readonly events: readonly Event[];
  /**
   * Appends `event`. On return the event survives a power cut; with `durable` false it survives
   * only the end of this process.
   */
  append(event: Event, durable?: boolean): void;
  close(): void;
}

/**
 * Opens `file`, and creates it when missing. An incomplete last line was cut off by a crash before
 * anything acted on it, and is dropped.
 *
 * @throws Error when a complete line is not an event, since then nothing after it can be trusted.
 */
export function openAppendLog<Event>(file: string, schema: Parser<Event>): AppendLog<Event> {
  mkdirSync(dirname(file), { recursive: true });
  const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const end = content.lastIndexOf(0x0a) + 1;
  const events = content
    .subarray(0, end)
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((line, index) => readLine(file, schema, line, index + 1));
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
    append: (event, durable = true) => {
      // The number of a closed file descriptor may already belong to another file.
      if (!open) throw new Error(`${file} is closed`);
      try {
        writeWhole(descriptor, Buffer.from(`${JSON.stringify(event)}\n`));
        if (durable) fdatasyncSync(descriptor);
      } catch (error) {
        // The file may now end in half a line (disk full): nothing may be appended to it, and the
        // next start drops it.
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

function readLine<Event>(file: string, schema: Parser<Event>, line: string, number: number): Event {
  try {
    return schema.parse(JSON.parse(line));
  } catch (cause) {
    throw new Error(
      `${file} is damaged: line ${number} is not an event of this log. ` +
        'Restore the file, or remove the data folder.',
      { cause },
    );
  }
}

/** Flushes a folder to disk: a new file survives a power cut only when its folder's entry does. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
