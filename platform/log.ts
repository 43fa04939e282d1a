import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';

/** Structured lines on standard output. Errors are written by name, message and stack, never with their context. */
export function createLogger(config: Pick<Config, 'logLevel'>, role: string): Logger {
  return pino({
    level: config.logLevel,
    base: { role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => plainError(error) },
  });
}

function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: plainError(error.cause) }),
  };
}
