/** The API's operations as types: the input and the answer of each. */
import { OPERATIONS } from './generated/operations.ts';
import type { components, operations } from './generated/schema.ts';

export { OPERATIONS };

/** A named schema of the API document. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

type Table = typeof OPERATIONS;
export type OperationId = keyof Table;

/** Table entry of any operation. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after the prefix; `{name+}` takes the rest of the path. */
  readonly path: string;
  /** The operation takes an idempotency key. */
  readonly idempotent: boolean;
  /** Field of a page that holds the rows; null when the operation has no pages. */
  readonly paged: string | null;
  readonly dryRun: boolean;
  /** The operation can return plain text (`query: {format: 'mermaid'}`). */
  readonly text?: true;
}

type IdsWith<Part> = {
  [Id in OperationId]: Table[Id] extends Part ? Id : never;
}[OperationId];
/** Operations that return pages. */
export type PagedId = IdsWith<{ readonly paged: string }>;
/** Operations that have a dry run. */
export type DryRunId = IdsWith<{ readonly dryRun: true }>;
/** Operations that take an idempotency key. */
export type IdempotentId = IdsWith<{ readonly idempotent: true }>;
/** Operations that can return plain text. */
export type TextId = IdsWith<{ readonly text: true }>;

/** Names of the parameters in a path, in their order. */
export type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [Name extends `${infer Plain}+` ? Plain : Name, ...PathNames<Rest>]
  : [];

export type ParamsOf<Id extends OperationId> = {
  readonly [Name in PathNames<Table[Id]['path']>[number]]: string;
};

export type QueryOf<Id extends OperationId> = operations[Id]['parameters'] extends {
  query?: infer Query;
}
  ? Exclude<Query, undefined>
  : never;

type Json<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : never;
type Distributed<Body> = Body extends { idempotency_key: string }
  ? Omit<Body, 'idempotency_key'> & { idempotency_key?: string }
  : Body;

/** Request body. `idempotency_key` is optional: without a key, the client makes one. */
export type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: infer Content }
  ? Distributed<Json<Content>>
  : operations[Id] extends { requestBody?: infer Content }
    ? Distributed<Json<Exclude<Content, undefined>>>
    : never;

type NeedsBody<Id extends OperationId> = operations[Id] extends { requestBody: object }
  ? true
  : false;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/** Body of a successful answer. */
export type ResultOf<Id extends OperationId> =
  Responses<Id> extends { 201: infer Created }
    ? Json<Created>
    : Responses<Id> extends { 200: infer Answered }
      ? Json<Answered>
      : never;

/** Body of the answer to a dry run. */
export type PreviewOf<Id extends DryRunId> =
  Responses<Id> extends { 200: infer Answered } ? Exclude<Json<Answered>, ResultOf<Id>> : never;

/** One row of a page. */
export type RowOf<Id extends PagedId> =
  ResultOf<Id> extends { [Plural in Table[Id]['paged']]: readonly (infer Row)[] } ? Row : never;

/** Options of every call. */
export interface CallOptions {
  /** Makes a repeat safe. If left out, the client makes a key for an operation that takes a key. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Input<Id extends OperationId> = CallOptions & { readonly dryRun?: boolean } & ([
    keyof ParamsOf<Id>,
  ] extends [never]
    ? { readonly params?: Readonly<Record<never, string>> }
    : { readonly params: ParamsOf<Id> }) &
  ([QueryOf<Id>] extends [never]
    ? { readonly query?: Readonly<Record<string, never>> }
    : { readonly query?: QueryOf<Id> | undefined }) &
  ([BodyOf<Id>] extends [never]
    ? { readonly body?: undefined }
    : NeedsBody<Id> extends true
      ? { readonly body: BodyOf<Id> }
      : { readonly body?: BodyOf<Id> | undefined });

/** Arguments after an operation's id: the input, optional when all its fields are optional. */
export type InputArgs<Id extends OperationId> =
  Partial<Input<Id>> extends Input<Id> ? [input?: Input<Id>] : [input: Input<Id>];

/** Input of any operation, without the types of a specific operation. */
export interface AnyInput extends CallOptions {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly dryRun?: boolean | undefined;
}
