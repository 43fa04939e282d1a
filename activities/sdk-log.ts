/** Sends the log lines of Temporal's SDK through the service's log, in the same format. */
import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from 'pino';

const LEVELS = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<LogLevel, string>;

/**
 * Installs the log; call it once, before any other use of the SDK. NOT_YET failures are logged at
 * debug level, since phases poll with them.
 */
export function installSdkLog(log: Logger): void {
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
  Runtime.install({ logger, shutdownSignals: [] });
}
