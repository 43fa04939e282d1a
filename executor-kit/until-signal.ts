/** Helpers for the main file of an executor: run until a signal, stop cleanly, exit. */

/** Runs `stop` at SIGTERM, SIGINT or SIGHUP and ends the process; status 1 when `stop` fails. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const end = (): void => {
    if (stopping) return;
    stopping = true;
    stop().then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
}

/** Ends the process with the error's message and status 1. */
export function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
