/** Reads the files that options of commands name; `-` is standard input. */
import { readFileSync } from 'node:fs';
import { ToolError } from './io.ts';

/** Returns the text of the file of an option, such as `--file`, or throws a {@link ToolError}. */
export function textOfFile(option: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new ToolError(`The file of ${option} cannot be read.`, { exitCode: 2, cause });
  }
}

/**
 * Returns what `read` makes of the file of `--file`; throws a {@link ToolError} that says what does
 * not fit. `what` names it, such as `rule`.
 */
export function readFile<T extends object>(
  file: string,
  what: string,
  read: (text: string) => T | { readonly faults: readonly string[] },
): T {
  const found = read(textOfFile('--file', file));
  if ('faults' in found)
    throw new ToolError([`The ${what} does not fit:`, ...found.faults].join('\n'), { exitCode: 2 });
  return found;
}
