/** Parses the raw bytes of a body to its JSON value; nothing here depends on a route. */
import { ServiceError } from '../../domain/errors.ts';
import { lossesIn, LOSSES, type JsonLoss } from '../../domain/json-text.ts';
import { invalidRequest, pathText, type Issue } from './issues.ts';

/** Maximum size of a body, in bytes. */
export const BODY_LIMIT = 1_048_576;
/** Maximum nesting depth of a body; the outermost object is the first level. */
export const NESTING_LIMIT = 32;
/**
 * Maximum number of fields and items of a body together. A check may report an issue for each, and
 * passes lists of issues on as arguments; V8 allows about 120,000 arguments.
 */
export const VALUES_LIMIT = 32_768;

export interface RawBody {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** Returns the JSON value of a body, `undefined` for an empty body. Throws 415 or 422. */
export function parseBody(raw: RawBody): unknown {
  if (raw.bytes.byteLength === 0) return undefined;
  if (
    !isJson(raw.contentType) ||
    (raw.contentEncoding ?? 'identity').trim().toLowerCase() !== 'identity'
  ) {
    throw new ServiceError('unsupported_media_type');
  }
  const text = decoded(raw.bytes);
  const value = parsed(text);
  if (countValues(value, VALUES_LIMIT) > VALUES_LIMIT)
    throw invalidRequest([
      {
        path: '',
        code: 'too_many_values',
        message: `the body has more than ${String(VALUES_LIMIT)} fields and items`,
      },
    ]);
  const issues: Issue[] = [];
  inspect(value, [], 1, issues);
  if (issues.length === 0) issues.push(...lossesIn(text).map(toIssue));
  if (issues.length > 0) throw invalidRequest(issues);
  return value;
}

/** Returns whether the type is `application/json` without a charset other than UTF-8. */
function isJson(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return (
    type === 'application/json' && (charset === undefined || /^charset="?utf-8"?$/.test(charset))
  );
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidRequest([
      { path: '', code: 'invalid_utf8', message: 'the body is not valid UTF-8' },
    ]);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest([
      { path: '', code: 'invalid_json', message: 'the body is not valid JSON' },
    ]);
  }
}

/** What parsing has changed would be hashed, approved and sent as no caller wrote it. */
function toIssue({ path, kind }: JsonLoss): Issue {
  return {
    path: pathText(path.map((step) => (typeof step === 'string' ? printable(step) : step))),
    code: kind === 'repeated' ? 'repeated' : 'invalid_number',
    message: LOSSES[kind],
  };
}

/** Returns the number of fields and items in `value` at all levels; stops above `enough`. */
function countValues(value: unknown, enough: number): number {
  const open: unknown[] = [value];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inside = Object.values(next);
    count += inside.length;
    if (count > enough) break;
    for (const item of inside) if (typeof item === 'object' && item !== null) open.push(item);
  }
  return count;
}

/**
 * Collects issues of valid JSON that the service cannot store: NUL, lone surrogates, numbers
 * without a value, excessive depth.
 */
function inspect(
  value: unknown,
  path: readonly PropertyKey[],
  depth: number,
  issues: Issue[],
): void {
  if (typeof value === 'string') {
    const fault = stringFault(value);
    if (fault !== null)
      issues.push({ path: pathText(path), code: 'invalid_string', message: fault });
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value))
      issues.push({ path: pathText(path), code: 'invalid_number', message: 'is out of range' });
  } else if (typeof value === 'object' && value !== null) {
    if (depth > NESTING_LIMIT) {
      issues.push({
        path: pathText(path),
        code: 'too_deep',
        message: `is nested deeper than ${String(NESTING_LIMIT)} levels`,
      });
      return;
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        inspect(item, [...path, index], depth + 1, issues);
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      const fault = key === '__proto__' ? 'is not allowed as a field name' : stringFault(key);
      if (fault !== null)
        issues.push({
          path: pathText([...path, printable(key)]),
          code: 'invalid_key',
          message: fault,
        });
      inspect(item, [...path, key], depth + 1, issues);
    }
  }
}

/** Returns why a text cannot be stored, or null. */
export function stringFault(value: string): string | null {
  if (value.includes('\0')) return 'must not hold NUL';
  return /\p{Surrogate}/u.test(value) ? 'holds half of a surrogate pair' : null;
}

function printable(key: string): string {
  return key.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}
