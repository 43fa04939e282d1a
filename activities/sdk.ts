/** Sets up Temporal's SDK: its log lines go through the service's log, its metrics to a port. */
import { DefaultLogger, Runtime, type LogLevel, type TelemetryOptions } from '@temporalio/worker';
import type { Logger } from 'pino';

const LEVELS = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<LogLevel, string>;

/**
 * Installs log and metrics; call it once, before any other use of the SDK. NOT_YET failures are
 * logged at debug level, since phases poll with them.
 *
 * @param metricsAddress `host:port` on which `/metrics` is served; absent: no metrics.
 * @throws Error if the address is taken.
 */
export function installSdk(log: Logger, metricsAddress?: string): void {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    const error: unknown = meta?.['error'];
    const notYet =
      typeof error === 'object' && error !== null && Reflect.get(error, 'type') === 'NOT_YET';
    const { workflowId, activityType, attempt } = meta ?? {};
    const about = {
      sdk: true,
      workflow_id: workflowId,
      activity: activityType,
      attempt,
      ...(error === undefined ? {} : { err: error }),
    };
    log[notYet ? 'debug' : LEVELS[level]](about, message);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    ...(metricsAddress === undefined ? {} : { telemetryOptions: metricsOf(metricsAddress) }),
  });
}

/** Names and units as Prometheus has them: `_total` of counters, and seconds. */
function metricsOf(bindAddress: string): TelemetryOptions {
  return {
    metrics: {
      prometheus: {
        bindAddress,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
  };
}
