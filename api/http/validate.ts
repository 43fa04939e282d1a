/** A request against its route's schemas: everything that does not fit is told at once. */
import { z } from 'zod';
import { invalidRequest, toIssues, type Issue } from './issues.ts';
import { parseQuery } from './query.ts';
import type { Route } from './route.ts';

export interface ValidInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly dryRun: boolean;
}

export interface RawInput {
  readonly params: unknown;
  readonly query: string;
  readonly body: unknown;
  /** The header `Dry-Run`. */
  readonly dryRun: string | undefined;
}

/** Headers that have a meaning only when they are given once. */
const SINGLE_HEADERS = ['idempotency-key', 'dry-run', 'content-type', 'content-encoding'];

/** The header values that routes see; one that must be single and is not is refused. */
export function singleHeaders(
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const repeated = SINGLE_HEADERS.filter((name) => (headers[name]?.length ?? 0) > 1);
  if (repeated.length > 0) {
    throw invalidRequest(
      repeated.map((name) => ({
        path: name,
        code: 'repeated',
        message: 'is given more than once',
      })),
    );
  }
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, values?.join(', ')]),
  );
}

/**
 * Path, query, body and `Dry-Run` as the route takes them, or `invalid_request` with every issue.
 */
export function validate(route: Route, raw: RawInput): ValidInput {
  const issues: Issue[] = [];
  const check = (schema: z.ZodType, value: unknown, known?: readonly string[]): unknown => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    issues.push(...toIssues(parsed.error, known));
    return undefined;
  };
  const params = check(route.params, raw.params);
  const parsedQuery = parseQuery(raw.query);
  issues.push(...parsedQuery.issues);
  const known = new Set(parsedQuery.issues.map((issue) => issue.path));
  const query = check(route.query, parsedQuery.values, namesOf(route.query));
  let body: unknown;
  if (route.method === 'GET') {
    if (raw.body !== undefined)
      issues.push({ path: '', code: 'body_not_allowed', message: 'this request takes no body' });
  } else {
    body = check(route.body, raw.body);
  }
  issues.push(...dryRunIssues(route, raw.dryRun));
  if (issues.length > 0)
    throw invalidRequest(
      issues.filter(
        (issue, at) =>
          !(known.has(issue.path) && issues.findIndex((each) => each.path === issue.path) < at),
      ),
    );
  return { params, query, body, dryRun: raw.dryRun === 'true' };
}

function namesOf(schema: z.ZodType): readonly string[] | undefined {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined;
}

/**
 * Whoever sends the header counts on it, so it is never ignored: not where there is no preview, and
 * not when its value could be read in two ways.
 */
function dryRunIssues(route: Route, header: string | undefined): readonly Issue[] {
  if (header === undefined) return [];
  if (route.preview === undefined) {
    return [
      {
        path: 'dry-run',
        code: 'unsupported',
        message: 'this request has no preview; send it without the header',
      },
    ];
  }
  if (header === 'true' || header === 'false') return [];
  return [{ path: 'dry-run', code: 'invalid_value', message: 'must be `true` or `false`' }];
}
