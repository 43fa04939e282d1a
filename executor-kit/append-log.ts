/** An append-only file of JSON lines, which survive a crash of the process or the machine. */
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
import { dirname, resolve } from 'node:path';

export interface AppendLog {
  /** The lines that the file had when it was opened, parsed. */
  readonly lines: readonly unknown[];
  /** Appends a line; returns once it is on disk. After an error the log accepts no more lines. */
  append(line: unknown): void;
  close(): void;
}

/**
 * Opens `file`; creates the file and its folder if they are missing. A last line without a line end
 * was cut off by a crash; no caller ever saw it, so it is dropped.
 *
 * @throws Error when a whole line is not JSON: another program has written to the file, and the
 *   rest cannot be trusted.
 */
export function openAppendLog(file: string): AppendLog {
  const folder = dirname(resolve(file));
  mkdirSync(folder, { recursive: true });
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const end = bytes.lastIndexOf(0x0a) + 1;
  const texts = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
  const lines = texts.map((text, index) => parseLine(file, text, index + 1));
  const descriptor = openSync(file, 'a', 0o600);
  if (end < bytes.length) ftruncateSync(descriptor, end);
  syncFolder(folder);
  let open = true;
  const close = (): void => {
    if (open) closeSync(descriptor);
    open = false;
  };
  return {
    lines,
    append: (line) => {
      if (!open) throw new Error(`${file} is closed`);
      try {
        const text = Buffer.from(`${JSON.stringify(line)}\n`);
        for (let written = 0; written < text.length;)
          written += writeSync(descriptor, text, written);
        fdatasyncSync(descriptor);
      } catch (error) {
        // The file may now end with half a line (a full disk). A further line would make both
        // unreadable.
        close();
        throw error;
      }
    },
    close,
  };
}

function parseLine(file: string, text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} line ${number} is not JSON; the file is damaged`);
  }
}

/** Syncs the folder: a new file survives a power cut only once its folder's entry is on disk. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
