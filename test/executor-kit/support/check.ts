/** Runs the conformance check inside the test's process. */
import { Bench } from '../../../executor-kit/check/bench.ts';
import { createHttpTarget } from '../../../executor-kit/check/http-target.ts';
import { isUrl, type CheckOptions } from '../../../executor-kit/check/options.ts';
import { createOwnProcess } from '../../../executor-kit/check/own-process.ts';
import { createQueueTarget } from '../../../executor-kit/check/queue-target.ts';
import { runChecks } from '../../../executor-kit/check/run.ts';
import type { CheckResult } from '../../../executor-kit/check/verdict.ts';
import type { DefinedExecutor } from '../../../executor-kit/define.ts';
import { serveExecutor, type ServeOptions } from '../../../executor-kit/http.ts';

export function optionsOf(target: string, changes: Partial<CheckOptions> = {}): CheckOptions {
  return {
    target,
    actionType: 'payment',
    config: {},
    inputParams: {},
    asset: 'USDC',
    amount: '1',
    completionAssurance: 'provider_completed',
    payees: [],
    notPayees: [],
    sends: true,
    sameKeySafe: true,
    settleSeconds: 0,
    timeout: 10,
    completeWithin: 20,
    temporalAddress: '127.0.0.1:7233',
    namespace: 'default',
    startTimeout: 60,
    json: false,
    ...changes,
  };
}

export async function checkTarget(options: CheckOptions): Promise<readonly CheckResult[]> {
  const own = options.command === undefined ? null : createOwnProcess(options.command);
  const target = isUrl(options.target)
    ? createHttpTarget(options)
    : await createQueueTarget(options);
  const bench = new Bench(target, options, own);
  try {
    await bench.start();
    return await runChecks(bench, () => undefined);
  } finally {
    await own?.stop();
    await target.close();
  }
}

/** Serves `executor` over HTTP and checks it, its effects counted. */
export async function checkServed(
  executor: DefinedExecutor,
  changes: Partial<CheckOptions> = {},
  serve: Partial<ServeOptions> = {},
) {
  const served = await serveExecutor(executor, { port: 0, log: () => undefined, ...serve });
  try {
    return await checkTarget(
      optionsOf(served.url, { effectsUrl: `${served.url}/effects/{idempotency_key}`, ...changes }),
    );
  } finally {
    await served.stop();
  }
}

export function failed(results: readonly CheckResult[]): string[] {
  return results.filter(({ status }) => status === 'failed').map(({ id }) => id);
}

/** What did not pass, in a form that a failed expectation shows in full. */
export function troubles(results: readonly CheckResult[]): string[] {
  return results
    .filter(({ status }) => status === 'failed')
    .map(({ id, reason }) => `${id}: ${reason ?? ''}`);
}
