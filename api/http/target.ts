/**
 * The request target. It is decoded once, and the decoded path is both what is signed and what is
 * routed; a target that could be read in two ways is refused before anything else looks at it.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { ServiceError } from '../../domain/errors.ts';

export interface Target {
  /** The decoded path. */
  readonly path: string;
  /** The query exactly as sent, without the question mark; empty when absent. */
  readonly query: string;
}

/** Printable ASCII only: everything else has to be percent-encoded in a target. */
const PRINTABLE = /^[\x21-\x7e]+$/;
const AMBIGUOUS_ESCAPE = /%(2f|5c|25)/i;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const foreign = new WeakMap<IncomingMessage, string>();

/**
 * Express reads a target before anything of ours does, and what it cannot read it answers with a
 * page of its own. So it is shown the origin form alone; {@link targetOf} tells what was sent.
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

/** The target of a request as it was sent. */
export function targetOf(request: IncomingMessage): string {
  return foreign.get(request) ?? request.url ?? '';
}

/** Throws `invalid_path` unless the target is a path and what follows it. */
export function assertOriginForm(target: string): void {
  if (!target.startsWith('/'))
    throw refused('use the origin form: a path that begins with a slash');
}

/** Splits and decodes a target, or throws `invalid_path` with the reason. */
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
