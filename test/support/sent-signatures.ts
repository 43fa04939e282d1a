/**
 * Looks for the signatures that tests have sent, where none may stand. There are thousands, so the
 * logs are read for what could be one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The variable that names the file to which test files add what they send. */
export const SENT_SIGNATURES = 'TEST_SENT_SIGNATURES';

export interface Searched {
  /** How many signatures were looked for. */
  readonly signatures: number;
  readonly leaks: readonly { readonly file: string; readonly line: number }[];
}

/** Every line under `dir` that holds one of the signatures of `file`, as hex or as base64. */
export function findSignatures(dir: string, file: string): Searched {
  const sent = new Set(
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [],
  );
  const logs = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const leaks = logs.flatMap((entry) => {
    const lines = readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n');
    return lines.flatMap((line, index) =>
      candidates(line).some((each) => sent.has(each))
        ? [{ file: entry.name, line: index + 1 }]
        : [],
    );
  });
  return { signatures: sent.size, leaks };
}

/** Whatever in a line is as long as a signature, in lower-case hex. */
function candidates(line: string): readonly string[] {
  const hex = (line.match(/[0-9a-f]{64,}/gi) ?? []).flatMap((run) =>
    Array.from({ length: run.length - 63 }, (_, at) => run.slice(at, at + 64).toLowerCase()),
  );
  const base64 = (line.match(/[A-Za-z0-9+/_-]{43}/g) ?? []).map((text) =>
    Buffer.from(text, 'base64').toString('hex'),
  );
  return [...hex, ...base64];
}
