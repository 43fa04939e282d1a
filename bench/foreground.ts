/** Runs a bench in the foreground, until its end or a signal. */
import { takeSignals } from '../dev/stack/foreground.ts';
import { startBenchStack, type BenchStack } from './stack.ts';

/**
 * Starts a stack, runs `bench` on it and stops it. Ends this process: with the bench's exit status,
 * with the signal's, or with 1 and the error on standard error.
 */
export async function runOnStack(bench: (stack: BenchStack) => Promise<number>): Promise<never> {
  const foreground = takeSignals(() => process.exit(1));
  const own: { stack?: BenchStack } = {};
  const started = async (): Promise<number> => {
    process.stderr.write('Starting Postgres and Temporal …\n');
    own.stack = await startBenchStack((line) => process.stderr.write(`${line}\n`));
    return bench(own.stack);
  };
  const outcome = async (): Promise<number> => {
    try {
      const work = started();
      work.catch(() => undefined); // it also ends when the race below was lost
      return await Promise.race([work, foreground.stopped.then(() => foreground.status ?? 1)]);
    } catch (error) {
      process.stderr.write(
        `\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
      return 1;
    } finally {
      await own.stack?.stop();
    }
  };
  process.exit(await outcome());
}
