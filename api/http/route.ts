/**
 * A route is one object: path, roles, schemas, errors, handler and words. Express routing, the role
 * map, validation, OpenAPI and the tests that sweep every route are all derived from it.
 */
import { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Requester } from '../../domain/commands/context.ts';
import type { Role } from '../../domain/roles.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { EVENT_STREAM, EventStream } from './stream-reply.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RouteInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Lower-case header names to their single value. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requester: Requester;
  /**
   * The caller asks what would happen, and nothing may be written; only ever true on a route with a
   * `preview`.
   */
  readonly dryRun: boolean;
}

export interface Reply<R> {
  readonly status: number;
  readonly body: R;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An answer whose bytes must stay as they are, or that is no JSON; sent as `text/plain;
 * charset=utf-8` unless it says otherwise.
 */
export interface TextReply {
  readonly status: number;
  readonly text: string;
  readonly type?: 'application/json' | typeof EVENT_STREAM;
  /** The text is only how it begins: {@link sendStream}. */
  readonly goesOn?: (stream: EventStream) => () => void;
}

interface SpecOf<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  V extends z.ZodType = z.ZodNever,
> {
  /** Unique, camelCase: OpenAPI's operationId. */
  readonly id: string;
  /**
   * Relative to the prefix, `{name}` for a parameter, `{name+}` for one that takes the rest of the
   * path.
   */
  readonly path: string;
  readonly roles: readonly Role[];
  /** The path parameter that names an agent authority: an agent may call only with its own. */
  readonly namespaceParam?: string;
  readonly tag: string;
  /** What stands under the tag, of one that the document itself has no words for: a venue's. */
  readonly tagText?: string;
  readonly summary: string;
  readonly description?: string;
  readonly params: P;
  readonly query: Q;
  /** `z.undefined()`-like routes use `noBody`: no body or `{}`. */
  readonly body: B;
  readonly response: R;
  /**
   * What `?dry_run=true`, or the header `Dry-Run: true`, answers with 200; a route without it
   * refuses both.
   */
  readonly preview?: V;
  /** The description of a success in plain text, for a route that can send one. */
  readonly text?: string;
  /** The success status; 200 when absent. */
  readonly status?: 200 | 201;
  /** An equal request is answered with what the first one made, and `Idempotent-Replayed`. */
  readonly repeats?: true;
  /**
   * Every error of the closed table that the handler itself can give. Those of every route are
   * added, and `outcome_unknown` where it is no GET.
   */
  readonly errors: readonly ErrorCode[];
  readonly handler: (
    input: RouteInput<z.output<P>, z.output<Q>, z.output<B>>,
    deps: ApiDependencies,
  ) => Promise<Reply<z.input<R> | z.input<V>> | TextReply>;
}

/**
 * When a GET has an effect beyond its answer: it asks a venue, or something is written. Sessions of
 * the dashboard, which have none, are not taken then.
 */
type Acts<Query> = 'never' | 'always' | ((query: Query) => boolean);

export type RouteSpec<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  V extends z.ZodType = z.ZodNever,
> = SpecOf<P, Q, B, R, V> &
  (
    | { readonly method: 'GET'; readonly acts: Acts<z.output<Q>> }
    | { readonly method: Exclude<Method, 'GET'>; readonly acts?: never }
  );

/** A route whose schemas are erased, as the table holds it. */
export interface Route {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly roles: readonly Role[];
  readonly namespaceParam?: string | undefined;
  readonly tag: string;
  readonly tagText?: string | undefined;
  readonly summary: string;
  readonly description: string | undefined;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly response: z.ZodType;
  readonly preview: z.ZodType | undefined;
  readonly text: string | undefined;
  readonly status: 200 | 201;
  readonly repeats?: true;
  /** See {@link acts}. */
  readonly acts: Acts<unknown>;
  readonly errors: readonly ErrorCode[];
  /** Validated input in, reply out; the schemas have run before it is called. */
  readonly handle: (
    input: RouteInput<unknown, unknown, unknown>,
    deps: ApiDependencies,
  ) => Promise<Reply<unknown> | TextReply>;
}

/** Types the handler by the schemas, then erases them for the table. */
export function defineRoute<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  V extends z.ZodType = z.ZodNever,
>(spec: RouteSpec<P, Q, B, R, V>): Route {
  const { handler, status, description, preview, text, query, errors, acts, ...rest } = spec;
  return {
    ...rest,
    // An unknown parameter is never ignored, whatever the schema was made with.
    query: query instanceof z.ZodObject ? query.strict() : query,
    errors: rest.method === 'GET' ? errors : [...errors, 'outcome_unknown'],
    // Called with the query that the schema returned.
    acts: (acts ?? 'always') as Acts<unknown>,
    description,
    preview,
    text,
    status: status ?? 200,
    // The caller of `handle` passes exactly what these schemas gave it.
    handle: (input, deps) =>
      handler(input as RouteInput<z.output<P>, z.output<Q>, z.output<B>>, deps),
  };
}

/** The parameters of a query that are records: each entry is sent as `name.<key>=<value>`. */
export function recordsOf(query: z.ZodType): readonly string[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape)
    .filter(
      ([, each]) => (each instanceof z.ZodOptional ? each.unwrap() : each) instanceof z.ZodRecord,
    )
    .map(([name]) => name);
}

/** Whether a request with this query, validated, has an effect beyond its answer. */
export function acts({ acts }: Pick<Route, 'acts'>, query: unknown): boolean {
  return typeof acts === 'function' ? acts(query) : acts === 'always';
}
