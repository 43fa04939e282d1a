/**
 * Finds the route of a decoded path: case-sensitive, strict about trailing slashes, static parts
 * before parameters.
 */
import type { Method, Route } from './route.ts';

type Part =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'one' | 'rest'; readonly name: string };

interface Pattern {
  readonly route: Route;
  readonly parts: readonly Part[];
}

export type Match =
  | {
      readonly kind: 'route';
      readonly route: Route;
      readonly params: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'method'; readonly allow: readonly Method[] }
  | { readonly kind: 'none' };

/** Returns the path's parts; `{name+}` takes the rest of the path and must be the last part. */
export function partsOf(path: string): readonly Part[] {
  return path
    .split('/')
    .slice(1)
    .map((segment): Part => {
      const [, name, rest] = /^\{([a-z_]+)(\+?)\}$/.exec(segment) ?? [];
      if (name === undefined) return { kind: 'static', text: segment };
      return { kind: rest === '+' ? 'rest' : 'one', name };
    });
}

/**
 * Returns a function that finds the route of a method and path (without the prefix). Throws when
 * two routes clash.
 */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Match {
  assertUnique(
    routes.map((route) => route.id),
    'route id',
  );
  assertUnique(
    routes.map((route) => `${route.method} ${route.path.replace(/\{[a-z_]+/g, '{')}`),
    'route',
  );
  const patterns = routes
    .map((route): Pattern => ({ route, parts: partsOf(route.path) }))
    .sort(bySpecificity);
  // Most routes begin with a name of their own: only the others are compared with a path.
  const named = new Map<string, readonly Pattern[]>();
  for (const { parts } of patterns)
    if (parts[0]?.kind === 'static')
      named.set(parts[0].text, startingWith(patterns, parts[0].text));
  const unnamed = startingWith(patterns, null);
  return (method, path) => {
    const segments = path.split('/').slice(1);
    const allow = new Set<Method>();
    let isNamed = false;
    for (const { route, parts } of named.get(segments[0] ?? '') ?? unnamed) {
      const params = fit(parts, segments);
      const last = parts.at(-1)?.kind;
      // A route that takes the rest of the path does not match the path that another route names.
      if (params === null || (isNamed && last === 'rest')) continue;
      if (route.method === method) return { kind: 'route', route, params };
      allow.add(route.method);
      isNamed ||= last === 'static' && route.params.safeParse(params).success;
    }
    return allow.size === 0 ? { kind: 'none' } : { kind: 'method', allow: [...allow].sort() };
  };
}

/** Returns the patterns, in their order, for paths with this first segment; null: any other. */
function startingWith(patterns: readonly Pattern[], text: string | null): readonly Pattern[] {
  return patterns.filter(({ parts: [first] }) => first?.kind !== 'static' || first.text === text);
}

function fit(parts: readonly Part[], segments: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index];
    if (segment === undefined || segment === '') return null;
    if (part.kind === 'static') {
      if (part.text !== segment) return null;
    } else if (part.kind === 'one') {
      params[part.name] = segment;
    } else {
      const rest = segments.slice(index);
      if (rest.includes('')) return null;
      params[part.name] = rest.join('/');
      return params;
    }
  }
  return segments.length === parts.length ? params : null;
}

const RANK = { static: 0, one: 1, rest: 2 } as const;

function bySpecificity(a: Pattern, b: Pattern): number {
  for (let index = 0; index < Math.max(a.parts.length, b.parts.length); index += 1) {
    const [left, right] = [a.parts[index], b.parts[index]];
    if (left === undefined || right === undefined) return a.parts.length - b.parts.length;
    if (left.kind !== right.kind) return RANK[left.kind] - RANK[right.kind];
  }
  return 0;
}

function assertUnique(names: readonly string[], what: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two routes have the same ${what}: ${twice}`);
}
