/** A guarantee, and what came of checking it. */
import type { Bench } from './bench.ts';

export interface Check {
  readonly id: string;
  /** What the service relies on, as one sentence. */
  readonly guarantee: string;
  /** Why it cannot be checked here, or null. */
  readonly notHere?: (bench: Bench) => string | null;
  /** Also run when the checks that all others build on have failed. */
  readonly inAnyCase?: boolean;
  /**
   * Throws {@link Broken} when the guarantee does not hold. What it returns is a remark for the
   * report.
   */
  run(bench: Bench): Promise<string | void>;
}

export interface CheckResult {
  readonly id: string;
  readonly guarantee: string;
  readonly status: 'passed' | 'failed' | 'not_run';
  readonly milliseconds: number;
  /** Why it failed or was not run, or a remark. */
  readonly reason?: string;
  readonly advice?: string;
}

/**
 * What the verdict says nothing about although the service relies on it: without these an executor
 * has not passed, whatever else holds.
 */
export function notCovered(
  { effectsUrl }: { readonly effectsUrl?: string | undefined },
  results: readonly CheckResult[],
): readonly string[] {
  const left = results.filter(({ status }) => status === 'not_run').map(({ id }) => id);
  const byOnly = results.filter(({ reason }) => reason === LEFT_OUT).map(({ id }) => id);
  return [
    ...(effectsUrl === undefined ? ['effects (--effects-url)'] : []),
    ...(left.some((id) => id.startsWith('crash-') && !byOnly.includes(id))
      ? ['crashes (--command)']
      : []),
    ...(byOnly.length === 0 ? [] : [`${byOnly.join(', ')} (--only)`]),
  ];
}

/** Why a check was not run that `--only` does not name. */
export const LEFT_OUT = 'left out by --only';
