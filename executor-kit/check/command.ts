/** The check as a command: reads the options, runs it, and prints the verdict. */
import { CommanderError, InvalidArgumentError } from 'commander';
import { request } from 'undici';
import { Bench } from './bench.ts';
import { createHttpTarget } from './http-target.ts';
import { checkCommand, isUrl, readOptions, type CheckOptions } from './options.ts';
import { createOwnProcess } from './own-process.ts';
import { createReport, jsonVerdict } from './report.ts';
import { runChecks } from './run.ts';
import type { Target } from './target.ts';
import { Broken } from './broken.ts';

const USAGE = 2;

/** Thrown when the check cannot run with these options: no verdict about the executor. */
class NotRunnable extends Error {}

async function check(options: CheckOptions): Promise<number> {
  const ownProcess = options.command === undefined ? null : createOwnProcess(options.command);
  const target = isUrl(options.target) ? createHttpTarget(options) : await queueTarget(options);
  const bench = new Bench(target, options, ownProcess);
  try {
    if (ownProcess !== null) await startOwn(bench);
    else await mustBeThere(bench);
    return await judge(bench);
  } finally {
    await ownProcess?.stop();
    await target.close();
  }
}

/**
 * Creates the target for a task queue. Loads Temporal's packages only here: a check over HTTP must
 * not need them.
 */
async function queueTarget(options: CheckOptions): Promise<Target> {
  const { createQueueTarget } = await import('./queue-target.ts').catch((error: unknown) => {
    const missing = error instanceof Error && 'code' in error ? error.code : null;
    if (missing !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new NotRunnable(
      `"${options.target}" is no URL, so it names a task queue, and that needs Temporal's packages: install @temporalio/client, @temporalio/worker and @temporalio/workflow`,
    );
  });
  return createQueueTarget(options);
}

async function judge(bench: Bench): Promise<number> {
  const { options } = bench;
  const report = options.json ? null : createReport(process.stdout);
  const started = performance.now();
  report?.begin(options);
  const results = await runChecks(bench, (result) => report?.result(result));
  const milliseconds = performance.now() - started;
  report?.end(options, results, milliseconds);
  if (report === null) process.stdout.write(`${jsonVerdict(options, results, milliseconds)}\n`);
  return results.some((result) => result.status === 'failed') ? 1 : 0;
}

/** Codes that mean that no executor answers; the checks judge wrong or late answers. */
const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Throws when no executor answers, since nothing can be judged then. */
async function mustBeThere(bench: Bench): Promise<void> {
  const { target, options } = bench;
  if (target.kind === 'http') {
    const code = await request(options.target, { signal: AbortSignal.timeout(10_000) }).then(
      async ({ body }) => {
        await body.dump();
        return null;
      },
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null),
    );
    if (UNREACHABLE.some((each) => each === code))
      throw new NotRunnable(
        `nothing answers at ${options.target} (${String(code)}); start the executor, or let --command do so`,
      );
    return;
  }
  const health = await target.executor.health(bench.limits());
  if (health.state !== 'up')
    throw new NotRunnable(
      `${health.detail ?? 'the task queue has no worker'}; start the worker, and compare the name of its task queue`,
    );
}

/**
 * Starts the executor. Throws when another process already answers at its address: the check would
 * call that process, which survives every kill.
 */
async function startOwn(bench: Bench): Promise<void> {
  const { executor, kind } = bench.target;
  if (kind === 'http' && (await executor.health(bench.limits())).state === 'up') {
    throw new NotRunnable(
      `something already answers at ${bench.options.target}; stop it, since --command starts the executor itself`,
    );
  }
  await bench.start().catch((error: unknown) => {
    throw error instanceof Broken ? new NotRunnable(error.message) : error;
  });
}

/**
 * Runs the check with the arguments of this process and sets its exit status. `command` is how
 * people start it, as the help shows it.
 */
export async function runCommand(command: string): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => process.exit(130));
  process.exitCode = await statusOf(command);
}

async function statusOf(words: string): Promise<number> {
  const command = checkCommand(words).exitOverride();
  try {
    command.parse();
    return await check(readOptions(command.args[0] ?? '', command.opts()));
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError && !(error instanceof InvalidArgumentError))
      return error.exitCode === 0 ? 0 : USAGE;
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return USAGE;
  }
}
