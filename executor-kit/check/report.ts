/** The verdict, for people and for programs. */
import type { CheckOptions } from './options.ts';
import type { CheckResult } from './verdict.ts';

type Output = { write(text: string): unknown; readonly isTTY?: boolean; hasColors?(): boolean };

const SIGNS = { passed: '✓', failed: '✗', not_run: '-' } as const;
const COLOURS = { passed: 32, failed: 31, not_run: 90 } as const;

export interface Report {
  begin(options: CheckOptions): void;
  result(result: CheckResult): void;
  end(results: readonly CheckResult[], milliseconds: number): void;
}

/** Lines as they come, with colours where the terminal has them. */
export function createReport(output: Output): Report {
  const colours = output.isTTY === true && output.hasColors?.() === true;
  const paint = (code: number, text: string): string =>
    colours ? `\u001b[${code}m${text}\u001b[0m` : text;
  const line = (text: string): void => void output.write(`${text}\n`);
  return {
    begin: ({ target, sameKeySafe, settleSeconds, timeout }) =>
      line(
        `Checking ${target} (same_key_safe ${String(sameKeySafe)}, settle ${settleSeconds} s, time-out ${timeout} s)\n`,
      ),
    result: ({ id, guarantee, status, milliseconds, reason, advice }) => {
      const time = status === 'not_run' ? '' : `${milliseconds} ms`.padStart(9);
      line(
        `  ${paint(COLOURS[status], SIGNS[status])} ${id.padEnd(20)}${time.padEnd(11)}${guarantee}`,
      );
      if (reason !== undefined)
        line(`      ${status === 'failed' ? paint(31, reason) : paint(90, `(${reason})`)}`);
      if (advice !== undefined) line(`      → ${advice}`);
    },
    end: (results, milliseconds) => {
      const { passed, failed, not_run } = countsOf(results);
      const word = failed === 0 ? paint(32, 'PASSED') : paint(31, 'FAILED');
      line(
        `\n${word}: ${passed} passed, ${failed} failed, ${not_run} not run, in ${(milliseconds / 1000).toFixed(1)} s`,
      );
    },
  };
}

/** The same as one JSON document. */
export function jsonVerdict(
  options: CheckOptions,
  results: readonly CheckResult[],
  milliseconds: number,
): string {
  const counts = countsOf(results);
  return JSON.stringify(
    {
      target: options.target,
      ok: counts.failed === 0,
      counts,
      milliseconds: Math.round(milliseconds),
      checks: results,
    },
    null,
    2,
  );
}

function countsOf(results: readonly CheckResult[]) {
  const count = (status: CheckResult['status']): number =>
    results.filter((result) => result.status === status).length;
  return { passed: count('passed'), failed: count('failed'), not_run: count('not_run') };
}
