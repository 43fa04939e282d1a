/** Runs the checks one after the other and returns their results. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { Bench } from './bench.ts';
import { BASICS } from './checks/basics.ts';
import { CRASH } from './checks/crash.ts';
import { ENDINGS } from './checks/endings.ts';
import { PAYEES } from './checks/payees.ts';
import { RECOVERY } from './checks/recovery.ts';
import { REPEATS } from './checks/repeats.ts';
import { REQUESTS } from './checks/requests.ts';
import { LEFT_OUT, type Check, type CheckResult } from './verdict.ts';
import { Broken } from './broken.ts';

/** All checks, in the order in which they run. */
export const CHECKS: readonly Check[] = [
  ...BASICS,
  ...PAYEES,
  ...REPEATS,
  ...RECOVERY,
  ...REQUESTS,
  ...CRASH,
  ...ENDINGS,
];

const ALWAYS: ReadonlySet<string> = new Set(BASICS.map((check) => check.id));

const FAULT_ADVICE: Record<ExecutorFault['kind'], string> = {
  timeout:
    'Answer within the time-out of the registry entry; work that takes longer belongs behind observe.',
  unreachable: 'Keep the process up and the connection open until the answer is sent.',
  rejected:
    'A 4xx (or EXECUTOR_REJECTED) is for requests that can never be served; serve this request.',
  server_error:
    'Look at the log of the executor; a 5xx (or failed activity) is repeated, so it must not be the normal answer.',
  not_yet: 'Only executors inside the service may answer not_yet; a team’s executor must answer.',
  protocol: 'docs/executors.md lists the fields and which next_state each phase may answer.',
};

/** Runs all checks against `bench`; calls `onResult` after each. */
export async function runChecks(
  bench: Bench,
  onResult: (result: CheckResult) => void,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  let stopped = false;
  for (const check of CHECKS) {
    const result = await one(bench, check, stopped && check.inAnyCase !== true);
    // After a failed basic check the other checks cannot run: they have no action to submit.
    stopped ||= result.status === 'failed' && ALWAYS.has(check.id);
    results.push(result);
    onResult(result);
  }
  return results;
}

async function one(bench: Bench, check: Check, stopped: boolean): Promise<CheckResult> {
  const { id, guarantee } = check;
  const { only } = bench.options;
  const reason = stopped
    ? 'the checks before it must pass first'
    : (check.notHere?.(bench) ??
      (only !== undefined && !ALWAYS.has(id) && check.inAnyCase !== true && !only.includes(id)
        ? LEFT_OUT
        : null));
  if (reason !== null) return { id, guarantee, status: 'not_run', milliseconds: 0, reason };
  const started = performance.now();
  const milliseconds = (): number => Math.round(performance.now() - started);
  try {
    const remark = await check.run(bench);
    return {
      id,
      guarantee,
      status: 'passed',
      milliseconds: milliseconds(),
      ...(typeof remark === 'string' ? { reason: remark } : {}),
    };
  } catch (error) {
    return { id, guarantee, status: 'failed', milliseconds: milliseconds(), ...wordsOf(error) };
  }
}

function wordsOf(error: unknown): { readonly reason: string; readonly advice: string } {
  if (error instanceof Broken) return { reason: error.message, advice: error.advice };
  if (error instanceof ExecutorFault)
    return { reason: error.message, advice: FAULT_ADVICE[error.kind] };
  return {
    reason: `the check itself failed: ${error instanceof Error ? error.message : String(error)}`,
    advice: 'Please report this.',
  };
}
