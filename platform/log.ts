/**
 * Structured log lines on standard output. Only some kinds of values are logged: errors by name,
 * message and stack, and plain values. A whole request, header list or row is left out, so that no
 * secret is logged by accident; every level is safe for production.
 */
import { pino, type DestinationStream, type LogFn, type Logger } from 'pino';
import type { Config } from './config.ts';
import { hostsOnly, isTelling, REDACTED, safeText } from './redact.ts';

/** Maximum length of a text in a line, in characters; longer texts are cut. */
const LONGEST = 8_000;

/** Creates the process's logger. `redact` removes known secrets from every finished line. */
export function createLogger(
  config: Pick<Config, 'logLevel'> & Partial<Pick<Config, 'redact'>>,
  role: string,
  destination?: DestinationStream,
): Logger {
  const { redact = (text: string) => text } = config;
  return pino(
    {
      level: config.logLevel,
      base: { role, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      // `formatters.log` converts errors together with all other fields.
      serializers: { err: (error: unknown) => error },
      formatters: { log: plainFields },
      hooks: { logMethod: withMessage, streamWrite: (line) => redact(safeText(line)) },
    },
    destination ?? pino.destination(1),
  );
}

/**
 * Adds a fixed message to an error that is logged without one. Otherwise pino would log the error's
 * own message, from which no secret was removed.
 */
function withMessage(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const [first, message] = args;
  if (message !== undefined || typeof first === 'string') method.apply(this, args);
  else
    method.call(
      this,
      isError(first) ? { err: first } : first,
      isError(first) || 'err' in Object(first) ? 'an error' : undefined,
    );
}

function plainFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, plain(name, value)]),
  );
}

function plain(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (isTelling(name)) return REDACTED;
  if (isError(value)) return plainError(value);
  if (name === 'err') return { message: cut(String(value)) };
  if (Array.isArray(value))
    return value.slice(0, 100).map((entry) => (isScalar(entry) ? scalar(entry) : '[left out]'));
  return isScalar(value) ? scalar(value) : '[left out]';
}

type Scalar = string | number | boolean | bigint | null;

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
}

function scalar(value: Scalar): string | number | boolean | null {
  return typeof value === 'string' ? cut(value) : typeof value === 'bigint' ? String(value) : value;
}

interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: PlainError;
}

/** Returns the error without other properties: clients put requests and credentials there. */
function plainError(error: Error, depth = 0): PlainError {
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    name,
    message: cut(hostsOnly(message)),
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack: cut(hostsOnly(stack)) }),
    ...(isError(cause) && depth < 5 ? { cause: plainError(cause, depth + 1) } : {}),
  };
}

/**
 * Returns whether a value is an error. Errors of other realms, such as a workflow's sandbox, are
 * not instances of this realm's Error.
 */
function isError(value: unknown): value is Error {
  return (
    value instanceof Error ||
    (typeof value === 'object' &&
      value !== null &&
      'message' in value &&
      'stack' in value &&
      typeof value.message === 'string')
  );
}

function cut(text: string): string {
  return text.length > LONGEST
    ? `${text.slice(0, LONGEST)}… (${String(text.length)} characters)`
    : text;
}
