/** Parses the query string; each parameter may appear at most once. */
import { stringFault } from './body.ts';
import type { Issue } from './issues.ts';

export interface ParsedQuery {
  readonly values: Readonly<Record<string, string>>;
  readonly issues: readonly Issue[];
}

/** Returns the decoded parameters; a repeated, nameless or badly encoded one is an issue. */
export function parseQuery(query: string): ParsedQuery {
  const values = new Map<string, string>();
  const issues: Issue[] = [];
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (name === null || value === null || stringFault(name + value) !== null) {
      issues.push({
        path: name === null || stringFault(name) !== null ? '' : name,
        code: 'invalid_encoding',
        message: 'is not percent-encoded UTF-8 without NUL',
      });
    } else if (name === '' || name === '__proto__') {
      issues.push({ path: name, code: 'unknown_field', message: 'is not a known parameter' });
    } else if (values.has(name)) {
      issues.push({ path: name, code: 'repeated', message: 'appears more than once' });
    } else {
      values.set(name, value);
    }
  }
  return { values: Object.fromEntries(values), issues };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
