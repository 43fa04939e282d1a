/** Makes URLs: the origin of the service, and the path and query of an operation. */
import { ClientUsageError } from './errors.ts';

/** Characters that are ambiguous in a path; the service refuses all of them. */
const UNSPEAKABLE = /[\u0000-\u001f\u007f-\u009f/\\%]/;

/**
 * Returns the origin of a URL.
 *
 * @throws ClientUsageError unless the URL is http or https and ends after host and port.
 */
export function originOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ClientUsageError('baseUrl must be an address like http://localhost:8100.');
  if (url.username !== '' || url.password !== '')
    throw new ClientUsageError('baseUrl must not hold a user or a password: requests are signed.');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new ClientUsageError(
      `baseUrl must end after host and port (${url.origin}). Set the prefix of the paths with the option prefix; without it the client reads the prefix from the service.`,
    );
  return url.origin;
}

/** Returns whether the text is a valid path prefix, such as `/v3` or an empty text. */
export function isPrefix(prefix: string): boolean {
  return prefix === '' || /^(\/[A-Za-z0-9._~-]+)+$/.test(prefix);
}

/** @throws ClientUsageError unless `prefix` is a valid path prefix. */
export function assertPrefix(prefix: string): void {
  if (!isPrefix(prefix))
    throw new ClientUsageError(
      'prefix must begin with a slash and end without one, and hold letters, digits and . _ ~ - alone.',
    );
}

/**
 * Returns a path with its parameters filled in and encoded; decoding once restores each parameter.
 *
 * @throws ClientUsageError for a parameter that is missing, unknown, or not allowed in a path.
 */
export function pathOf(path: string, params: Readonly<Record<string, string>>): string {
  const names = new Set<string>();
  const filled = path.replace(/\{([^}+]+)(\+?)\}/g, (_, name: string, rest: string) => {
    names.add(name);
    const value: unknown = params[name];
    if (typeof value !== 'string' || value === '')
      throw new ClientUsageError(`The path parameter ${name} is missing.`);
    const segments = rest === '+' ? value.split('/') : [value];
    return segments.map((segment) => encoded(name, segment)).join('/');
  });
  const unknown = Object.keys(params).find((name) => !names.has(name));
  if (unknown !== undefined)
    throw new ClientUsageError(`There is no path parameter ${unknown} here.`);
  return filled;
}

function encoded(name: string, segment: string): string {
  if (segment === '' || segment === '.' || segment === '..' || UNSPEAKABLE.test(segment))
    throw new ClientUsageError(
      `The path parameter ${name} must not contain an empty or dot segment, nor a /, \\, % or control character that the path does not allow.`,
    );
  try {
    return encodeURIComponent(segment);
  } catch {
    throw new ClientUsageError(`The path parameter ${name} holds half of a surrogate pair.`);
  }
}

/**
 * Returns a query as it is sent, with its question mark. Undefined values are left out; the entries
 * of an object become `name.<key>`.
 */
export function queryOf(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query).flatMap(entriesOf))
    for (const each of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (each === undefined) continue;
      if (!['string', 'number', 'boolean'].includes(typeof each))
        throw new ClientUsageError(
          `The query parameter ${name} must be a text, number or boolean.`,
        );
      search.append(name, String(each));
    }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function entriesOf([name, value]: [string, unknown]): readonly [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([key, each]): [string, unknown] => [`${name}.${key}`, each])
    : [[name, value]];
}
