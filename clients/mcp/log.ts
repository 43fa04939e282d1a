/** Lines for people on standard error: standard output is the protocol's alone. */
import { plain } from '../agent/plain.ts';

const LONGEST = 400;
const WINDOW_MS = 60_000;
/** More than this a minute is counted and not written: a host may keep all of it. */
export const LINES_A_MINUTE = 60;

export type Log = (line: string) => void;

/** A log of bounded lines, and of so many a minute. */
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
