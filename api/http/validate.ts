/** Validates a request against its route's schemas: all faults are reported together. */
import { z } from 'zod';
import { invalidRequest, toIssues, type Issue } from './issues.ts';
import { parseQuery } from './query.ts';
import { keyFieldOf, recordsOf, type Route } from './route.ts';

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
  /** The value of the header `Dry-Run`. */
  readonly dryRun: string | undefined;
  /** The value of the header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined;
}

/** Headers that have a meaning only when they appear once. */
const SINGLE_HEADERS = ['idempotency-key', 'dry-run', 'content-type', 'content-encoding'];

/** Returns the header values that routes read; throws when a single-value header is repeated. */
export function singleHeaders(
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const repeated = SINGLE_HEADERS.filter((name) => (headers[name]?.length ?? 0) > 1);
  if (repeated.length > 0) {
    throw invalidRequest(
      repeated.map((name) => ({
        path: name,
        code: 'repeated',
        message: 'appears more than once',
      })),
    );
  }
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, values?.join(', ')]),
  );
}

/** Returns the valid path, query, body and `Dry-Run`; throws `invalid_request` with every issue. */
export function validate(route: Route, raw: RawInput): ValidInput {
  const issues: Issue[] = [];
  const check = (schema: z.ZodType, value: unknown, names?: typeof namesOf): unknown => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of toIssues(parsed.error, names?.(schema))) issues.push(issue);
    return undefined;
  };
  const params = check(route.params, raw.params);
  const parsedQuery = parseQuery(raw.query);
  issues.push(...parsedQuery.issues);
  const known = new Set(parsedQuery.issues.map((issue) => issue.path));
  const { dry_run: dryRunParameter, ...own } = parsedQuery.values;
  const dryRun = { header: raw.dryRun, parameter: dryRunParameter };
  // On a route without a preview, `dry_run` is an unknown parameter like any other.
  const query = check(
    route.query,
    gathered(route.query, route.preview === undefined ? parsedQuery.values : own),
    namesOf,
  );
  let body: unknown;
  if (route.method === 'GET') {
    if (raw.body !== undefined)
      issues.push({ path: '', code: 'body_not_allowed', message: 'this request takes no body' });
  } else {
    body = check(route.body, raw.body);
  }
  issues.push(...dryRunIssues(route, dryRun), ...keyIssues(route, raw.idempotencyKey));
  if (issues.length > 0)
    throw invalidRequest(
      issues.filter(
        (issue, at) =>
          !(known.has(issue.path) && issues.findIndex((each) => each.path === issue.path) < at),
      ),
    );
  return { params, query, body, dryRun: Object.values(dryRun).includes('true') };
}

function namesOf(schema: z.ZodType): readonly string[] | undefined {
  if (!(schema instanceof z.ZodObject)) return undefined;
  const records = recordsOf(schema);
  return Object.keys(schema.shape).map((name) => (records.includes(name) ? `${name}.<key>` : name));
}

/**
 * Returns the parameters, with each `name.<key>` of a record as an entry of `name`. Other
 * parameters stay as sent, so that the schema refuses them; also `__proto__`, which record schemas
 * would ignore.
 */
function gathered(
  schema: z.ZodType,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const records = recordsOf(schema).filter((name) => !Object.hasOwn(values, name));
  if (records.length === 0) return values;
  const query: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const record = records.find((each) => name.startsWith(`${each}.`));
    const key = record === undefined ? '' : name.slice(record.length + 1);
    if (record === undefined || key === '__proto__') query[name] = value;
    else query[record] = { ...(query[record] as object | undefined), [key]: value };
  }
  return query;
}

/**
 * Returns the issues of a dry run. A caller relies on a requested preview, so neither header nor
 * parameter is ever ignored: the request is refused where no preview exists, when a value is
 * ambiguous, or when the two differ. The parameter is signed; a proxy may drop the header.
 */
function dryRunIssues(
  route: Route,
  {
    header,
    parameter,
  }: { readonly header: string | undefined; readonly parameter: string | undefined },
): readonly Issue[] {
  if (route.preview === undefined)
    return header === undefined
      ? []
      : [
          {
            path: 'dry-run',
            code: 'unsupported',
            message: 'this request has no preview; send it without the header',
          },
        ];
  const sent = { 'dry-run': header, dry_run: parameter };
  const malformed = Object.entries(sent)
    .filter(([, value]) => value !== undefined && value !== 'true' && value !== 'false')
    .map(([path]) => ({ path, code: 'invalid_value', message: 'must be `true` or `false`' }));
  if (malformed.length > 0 || header === undefined || parameter === undefined) return malformed;
  if (header === parameter) return [];
  return [{ path: 'dry_run', code: 'invalid_value', message: 'differs from the Dry-Run header' }];
}

/**
 * Returns the issue of an idempotency key on a write that reads none: its caller relies on a repeat
 * that does nothing. Where the body has a key, the route compares the two. What only stops or
 * narrows something is harmless when it is repeated, and must not fail in an emergency because a
 * client's library adds the header to everything.
 */
function keyIssues(route: Route, header: string | undefined): readonly Issue[] {
  if (header === undefined || route.method === 'GET' || route.power === 'narrows') return [];
  if (keyFieldOf(route) !== undefined) return [];
  return [
    {
      path: 'idempotency-key',
      code: 'unsupported',
      message:
        'this request takes no idempotency key: a repeat acts again; send it without the header',
    },
  ];
}
