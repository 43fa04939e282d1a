/**
 * Parses the request target. It is decoded once, and the decoded path is both signed and routed. A
 * target that could be read in two ways is refused before other checks.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { ServiceError } from '../../domain/errors.ts';

export interface Target {
  /** The decoded path. */
  readonly path: string;
  /** The query exactly as sent, without the question mark; empty when absent. */
  readonly query: string;
}

/** Printable ASCII only: a target must percent-encode all other characters. */
const PRINTABLE = /^[\x21-\x7e]+$/;
const AMBIGUOUS_ESCAPE = /%(2f|5c|25)/i;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const foreign = new WeakMap<IncomingMessage, string>();

/**
 * Returns a listener that passes Express only targets in origin form, since Express answers a
 * target that it cannot parse with its own error page. {@link targetOf} returns the target as sent.
 */
export function withReadableTarget(app: RequestListener): RequestListener {
  return (request, response) => {
    const { url = '' } = request;
    if (!url.startsWith('/')) {
      foreign.set(request, url);
      request.url = '/';
    }
    app(request, response);
  };
}

/** Returns the target of a request as sent. */
export function targetOf(request: IncomingMessage): string {
  return foreign.get(request) ?? request.url ?? '';
}

/** Throws `invalid_path` unless the target is a path, with or without a query. */
export function assertOriginForm(target: string): void {
  if (!target.startsWith('/'))
    throw refused('use the origin form: a path that begins with a slash');
}

/** Splits and decodes a target; throws `invalid_path` with the reason. */
export function parseTarget(target: string): Target {
  assertOriginForm(target);
  if (!PRINTABLE.test(target))
    throw refused('percent-encode spaces, control and non-ASCII characters');
  if (target.includes('#')) throw refused('a target has no fragment');
  if (target.includes('\\')) throw refused('a target has no backslash');
  const mark = target.indexOf('?');
  const raw = mark === -1 ? target : target.slice(0, mark);
  if (AMBIGUOUS_ESCAPE.test(raw)) throw refused('%2F, %5C and %25 are not taken in a path');
  if (raw.includes('//')) throw refused('the path has an empty segment');
  const path = decode(raw);
  if (CONTROL.test(path)) throw refused('the path has a control character');
  if (path.split('/').some((segment) => segment === '.' || segment === '..'))
    throw refused('the path has a dot segment');
  return { path, query: mark === -1 ? '' : target.slice(mark + 1) };
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw refused('the path is not percent-encoded UTF-8');
  }
}

function refused(why: string): ServiceError {
  return new ServiceError('invalid_path', {
    message: `The request target does not have exactly one meaning: ${why}.`,
  });
}
