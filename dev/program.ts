/** How Node is told to run one of our programs, in every place that starts one again and again. */
import { join } from 'node:path';
import { ROOT } from './ports.ts';

/** Node's arguments for a program of this project, as `node --import tsx <entry> …` and quicker; see dev/bootstrap/entry.mjs. */
export function programArgs(entry: string, ...args: string[]): string[] {
  return [join(ROOT, 'dev', 'launch.mjs'), entry, ...args];
}
