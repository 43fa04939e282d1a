/** The API's operations as types: what each takes, and what it answers. */
import { OPERATIONS } from './generated/operations.ts';
import type { components, operations } from './generated/schema.ts';

export { OPERATIONS };

/** A schema of the API's document by its name. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

type Table = typeof OPERATIONS;
export type OperationId = keyof Table;

/** What the table says of an operation, without which one it is. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under the prefix; `{name+}` takes the rest of the path. */
  readonly path: string;
  /** Takes an idempotency key. */
  readonly idempotent: boolean;
  /** The field of its pages that holds the rows, or null when it has no pages. */
  readonly paged: string | null;
  readonly dryRun: boolean;
  /** Can answer plain text (`query: {format: 'mermaid'}`). */
  readonly text?: true;
}

type IdsWith<Part> = {
  [Id in OperationId]: Table[Id] extends Part ? Id : never;
}[OperationId];
/** Operations that answer in pages. */
export type PagedId = IdsWith<{ readonly paged: string }>;
/** Operations that have a dry run. */
export type DryRunId = IdsWith<{ readonly dryRun: true }>;
/** Operations that take an idempotency key. */
export type IdempotentId = IdsWith<{ readonly idempotent: true }>;
/** Operations that can answer plain text. */
export type TextId = IdsWith<{ readonly text: true }>;

/** The names in a path, in their order. */
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

/** What is sent; a key that the service wants is made by the client where it is left out. */
export type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: infer Content }
  ? Distributed<Json<Content>>
  : operations[Id] extends { requestBody?: infer Content }
    ? Distributed<Json<Exclude<Content, undefined>>>
    : never;

type NeedsBody<Id extends OperationId> = operations[Id] extends { requestBody: object }
  ? true
  : false;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/** What a success answers. */
export type ResultOf<Id extends OperationId> =
  Responses<Id> extends { 201: infer Created }
    ? Json<Created>
    : Responses<Id> extends { 200: infer Answered }
      ? Json<Answered>
      : never;

/** What a dry run answers. */
export type PreviewOf<Id extends DryRunId> =
  Responses<Id> extends { 200: infer Answered } ? Exclude<Json<Answered>, ResultOf<Id>> : never;

/** One row of a page. */
export type RowOf<Id extends PagedId> =
  ResultOf<Id> extends { [Plural in Table[Id]['paged']]: readonly (infer Row)[] } ? Row : never;

/** Options of every call. */
export interface CallOptions {
  /** Left out, the client makes one where the operation takes one. */
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

/** The arguments behind an operation's id: nothing where everything may be left out. */
export type InputArgs<Id extends OperationId> =
  Partial<Input<Id>> extends Input<Id> ? [input?: Input<Id>] : [input: Input<Id>];

/** An input without its types, as the transport has it. */
export interface AnyInput extends CallOptions {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly dryRun?: boolean | undefined;
}
