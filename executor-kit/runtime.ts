/**
 * Temporal's native part, set up once for a process: it says only what went wrong, and leaves
 * signals to the process.
 */
import {
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  type LogLevel,
} from '@temporalio/worker';

let installed = false;

/** Repeating it changes nothing, and so does a runtime that somebody else has set up before. */
export function installRuntime(level: LogLevel): void {
  if (installed) return;
  installed = true;
  try {
    const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
    Runtime.install({
      logger: new DefaultLogger(level),
      telemetryOptions: { logging: { filter } },
      shutdownSignals: [],
    });
  } catch {
    // Set up already, by the team's own code: theirs stays.
  }
}
