/**
 * A route is one object: path, roles, power, schemas, errors, handler and descriptions. Express
 * routing, the role map, validation, OpenAPI and the tests over all routes are derived from it.
 */
import { z } from 'zod';
import type { Power } from '../../domain/approval/power.ts';
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
   * True when the caller requests only a preview: nothing may be written. Only on a route with a
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
 * A reply whose bytes must stay unchanged, or that is not JSON; sent as `text/plain; charset=utf-8`
 * unless `type` is set.
 */
export interface TextReply {
  readonly status: number;
  readonly text: string;
  readonly type?: 'application/json' | typeof EVENT_STREAM;
  /** Continues the reply as a stream after `text`; see {@link sendStream}. */
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
  /** Relative to the prefix; `{name}` is one segment, `{name+}` takes the rest of the path. */
  readonly path: string;
  readonly roles: readonly Role[];
  /** What a call can do to where money may go; for a GET always `reads`. */
  readonly power: Power;
  /** The path parameter that names an agent authority: an agent may use only its own. */
  readonly namespaceParam?: string;
  readonly tag: string;
  /** Description of a tag that the document itself does not describe, such as a venue's. */
  readonly tagText?: string;
  readonly summary: string;
  readonly description?: string;
  readonly params: P;
  readonly query: Q;
  /** Routes without a body use `noBody`: no body or `{}`. */
  readonly body: B;
  readonly response: R;
  /**
   * Schema of the reply to `?dry_run=true` or `Dry-Run: true`, with status 200; a route without a
   * preview refuses both.
   */
  readonly preview?: V;
  /** Description of a plain-text success, for a route that can send one. */
  readonly text?: string;
  /** The success status; 200 when absent. */
  readonly status?: 200 | 201;
  /** An equal request gets the first request's result again, with `Idempotent-Replayed`. */
  readonly repeats?: true;
  /**
   * Every error of the closed table that the handler itself can throw. Errors of every route are
   * added, and `outcome_unknown` for any method but GET.
   */
  readonly errors: readonly ErrorCode[];
  readonly handler: (
    input: RouteInput<z.output<P>, z.output<Q>, z.output<B>>,
    deps: ApiDependencies,
  ) => Promise<Reply<z.input<R> | z.input<V>> | TextReply>;
}

/**
 * When a GET has an effect besides its reply: the GET asks a venue or writes something. A dashboard
 * session may not call the GET then.
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
    | { readonly method: 'GET'; readonly acts: Acts<z.output<Q>>; readonly power: 'reads' }
    | { readonly method: Exclude<Method, 'GET'>; readonly acts?: never; readonly power: Power }
  );

/** A route without its schema types, as the route table holds it. */
export interface Route {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly roles: readonly Role[];
  readonly power: Power;
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
  /** Handles validated input; the schemas have run before the call. */
  readonly handle: (
    input: RouteInput<unknown, unknown, unknown>,
    deps: ApiDependencies,
  ) => Promise<Reply<unknown> | TextReply>;
}

/** Checks the handler's types against the schemas, then erases them for the route table. */
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
    // An unknown parameter is always refused, even if the schema is not strict.
    query: query instanceof z.ZodObject ? query.strict() : query,
    errors: rest.method === 'GET' ? errors : [...errors, 'outcome_unknown'],
    // `acts` gets the query that the schema returned, so the type is safe to erase.
    acts: (acts ?? 'always') as Acts<unknown>,
    description,
    preview,
    text,
    status: status ?? 200,
    // The caller of `handle` passes exactly what these schemas returned.
    handle: (input, deps) =>
      handler(input as RouteInput<z.output<P>, z.output<Q>, z.output<B>>, deps),
  };
}

/** Returns the query parameters that are records: each entry is sent as `name.<key>=<value>`. */
export function recordsOf(query: z.ZodType): readonly string[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape)
    .filter(
      ([, each]) => (each instanceof z.ZodOptional ? each.unwrap() : each) instanceof z.ZodRecord,
    )
    .map(([name]) => name);
}

/** Returns the schema of the idempotency key in the body; undefined for a route without a key. */
export function keyFieldOf({ body }: Pick<Route, 'body'>): unknown {
  return body instanceof z.ZodObject ? body.shape['idempotency_key'] : undefined;
}

/** Returns whether a request with this validated query has an effect besides its reply. */
export function acts({ acts }: Pick<Route, 'acts'>, query: unknown): boolean {
  return typeof acts === 'function' ? acts(query) : acts === 'always';
}
