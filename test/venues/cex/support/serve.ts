/**
 * How a local exchange serves one request, without a network: as its format documents it, and with
 * a fault in it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Books } from './books.ts';
import { OwnAnswer, type Format, type WireAnswer, type WireRequest } from './format.ts';
import { misbehave, type Fault } from './misbehaviour.ts';
import { Refusal } from './refusal.ts';

/** A request that arrived. */
export interface Seen extends WireRequest {
  /** Milliseconds since 1970, by this machine's clock. */
  readonly at: number;
  /** The API key that it names; null: none. */
  readonly key: string | null;
  /** In the units of the format's limits. */
  readonly cost: number;
}

export interface Arrived {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Returns the request as formats read it, as arriving now. */
export function seenOf({ method, target, headers, body }: Arrived, format: Format): Seen {
  const url = new URL(target, 'http://exchange');
  const seen: WireRequest = {
    ...{ method, body, headers },
    raw: method === 'GET' || method === 'HEAD' ? url.search.slice(1) : body,
    path: url.pathname,
    url: target,
    parameters: new URLSearchParams([
      ...url.searchParams,
      ...parametersOf(body, headers['content-type']),
    ]),
  };
  return { ...seen, at: Date.now(), key: format.apiKeyOf(seen), cost: format.costOf(seen) };
}

/** The parameters of a body: a form, or the scalars of a JSON object. */
function parametersOf(body: string, type = ''): readonly [string, string][] {
  if (!type.includes('json')) return [...new URLSearchParams(body)];
  const parsed: unknown = body === '' ? {} : JSON.parse(body);
  return Object.entries(parsed as object).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [[name, String(value)] as [string, string]],
  );
}

export interface Host {
  readonly format: Format;
  readonly books: Books;
  /** Drops all connections and refuses new ones for a while. The books stay. */
  restart(milliseconds: number): void;
}

/**
 * Serves the request, with the fault. Calls `served` once it has had its effect, before its answer.
 * Returns its answer; null: the connection is closed without one.
 */
export async function serve(
  { format, books, restart }: Host,
  seen: Seen,
  fault: Fault | undefined,
  served: () => void = () => undefined,
): Promise<WireAnswer | null> {
  const instead: WireAnswer[] = [];
  const { before, after } = misbehave(fault, {
    ...{ format, books, restart },
    answer: (answer) => void instead.push(answer),
    hangUp: () => void (instead.length = 0),
  });
  if (await before()) return instead[0] ?? null;
  const outcome = perform(format, seen, books);
  served();
  return after() ? (instead[0] ?? null) : outcome;
}

function perform(format: Format, request: WireRequest, books: Books): WireAnswer {
  const { method, path, parameters, body } = request;
  const name = `${method} ${path}`;
  try {
    const isPublic = format.publicRoutes.includes(name);
    const account = isPublic ? null : format.authenticate(request, books);
    const found = routeOf(format, name);
    if (found === null) throw new Refusal('endpoint_unknown', name);
    const answer = found.route({ books, account, path: found.values, parameters, body });
    return answer instanceof OwnAnswer ? answer.answer : { status: 200, body: answer };
  } catch (error) {
    if (error instanceof OwnAnswer) return error.answer;
    if (error instanceof Refusal) return format.refusal(error.kind, error.detail, path);
    throw error;
  }
}

/** The route of a request, with what its path has at the placeholders; null: there is none. */
function routeOf(
  { routes }: Format,
  name: string,
): { readonly route: Format['routes'][string]; readonly values: readonly string[] } | null {
  for (const [pattern, route] of Object.entries(routes)) {
    const values = valuesAt(pattern, name);
    if (values !== null) return { route, values };
  }
  return null;
}

/** What a name has where the pattern has `{}`; null: it does not fit the pattern. */
function valuesAt(pattern: string, name: string): readonly string[] | null {
  const [wanted, parts] = [pattern.split('/'), name.split('/')];
  const fits = (part: string, index: number): boolean =>
    wanted[index] === '{}' ? part !== '' : wanted[index] === part;
  if (wanted.length !== parts.length || !parts.every(fits)) return null;
  return parts.filter((_, index) => wanted[index] === '{}');
}
