/**
 * Sends what Temporal's SDK says through our own log, so that a process writes one kind of line.
 */
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
 * Call once, before any other use of the SDK. "Not yet" failures are how phases poll, so they are
 * no warnings.
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
