/** Sets up Temporal's native runtime once per process: errors only, no signal handlers. */
import {
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  type LogLevel,
} from '@temporalio/worker';

let installed = false;

/** Installs the runtime, unless this or other code has already installed one. */
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
    // The team's own code has already installed a runtime, which stays in use.
  }
}
