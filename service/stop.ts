/** How a process ends. */
import type { Stop } from './parts.ts';

/** SIGTERM, Ctrl-C or the end of the parent process: stop taking work, finish what runs, leave. */
export function stopOnSignal(stops: Stop[], report: (error: unknown) => void): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    for (const each of [...stops].reverse()) await each().catch(report);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => void stop());
  process.on('disconnect', () => void stop());
}
