/** The types of a check and of its result. */
import type { Bench } from './bench.ts';

export interface Check {
  readonly id: string;
  /** The guarantee that the service relies on, as one sentence. */
  readonly guarantee: string;
  /** Returns why the guarantee cannot be checked with these options; null when it can. */
  readonly notHere?: (bench: Bench) => string | null;
  /** True: the check also runs when one of the basic checks has failed. */
  readonly inAnyCase?: boolean;
  /**
   * Runs the check. Throws {@link Broken} when the guarantee does not hold; returns a remark for
   * the report, if any.
   */
  run(bench: Bench): Promise<string | void>;
}

export interface CheckResult {
  readonly id: string;
  readonly guarantee: string;
  readonly status: 'passed' | 'failed' | 'not_run';
  readonly milliseconds: number;
  /** Why the check failed or was not run, or a remark on a passed check. */
  readonly reason?: string;
  readonly advice?: string;
}

/**
 * Returns the guarantees that were not checked although the service relies on them; if there are
 * any, the verdict names them after PASSED.
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

/** The reason of a check that was not run because `--only` does not name it. */
export const LEFT_OUT = 'left out by --only';
