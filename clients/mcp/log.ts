/** Writes log lines to standard error, because standard output carries only the protocol. */
import { plain } from '../agent/plain.ts';

const LONGEST = 400;
const WINDOW_MS = 60_000;
/** Maximum lines a minute; more are only counted, because a host may store every line. */
export const LINES_A_MINUTE = 60;

export type Log = (line: string) => void;

/** Returns a log that limits the length of a line and the number of lines a minute. */
export function createLog(write: (text: string) => void, now: () => number = Date.now): Log {
  let since = now();
  let written = 0;
  let left = 0;
  return (line) => {
    if (now() - since >= WINDOW_MS) {
      if (left > 0) write(`fund-mcp: ${String(left)} lines were left out\n`);
      [since, written, left] = [now(), 0, 0];
    }
    if (written >= LINES_A_MINUTE) left += 1;
    else {
      written += 1;
      write(`fund-mcp: ${plain(line, LONGEST)}\n`);
    }
  };
}
