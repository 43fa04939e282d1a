/**
 * Compiles the text of a condition, or returns why it cannot be compiled. Both results are cached.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { language, LIMITS } from './language.ts';
import { usesOf } from './subset.ts';
import { refuse, Refusal } from './syntax.ts';
import { checkTypes } from './typing.ts';
import type { Uses } from './uses.ts';

export interface Program {
  readonly uses: Uses;
  /**
   * Node key to the name that the evaluator uses for the node. Keys may hold any character, names
   * may not.
   */
  readonly names: ReadonlyMap<string, string>;
  readonly run: (variables: Readonly<Record<string, unknown>>) => unknown;
}

export type Compiled = { readonly program: Program } | { readonly problem: string };

/** The least recently used entry is the first, since a Map keeps the order of insertion. */
const cache = new Map<string, Compiled>();
let cachedCharacters = 0;

/**
 * Compiles an expression that will be evaluated. Plans with the same expression share the result.
 */
export function compile(expression: string): Compiled {
  const compiled = cache.get(expression) ?? compileAnew(expression);
  // A text that is too long for a condition is not cached.
  if (expression.length <= LIMITS.characters) keep(expression, compiled);
  return compiled;
}

/**
 * Compiles like {@link compile} but caches nothing: checking a plan with many expressions must not
 * remove those that are evaluated from the cache.
 */
export function compileOnce(expression: string): Compiled {
  return cache.get(expression) ?? compileAnew(expression);
}

function keep(expression: string, compiled: Compiled): void {
  if (!cache.delete(expression)) cachedCharacters += expression.length;
  cache.set(expression, compiled);
  for (const oldest of cache.keys()) {
    if (cachedCharacters <= LIMITS.cachedCharacters) return;
    cache.delete(oldest);
    cachedCharacters -= oldest.length;
  }
}

/** Returns the present size of the cache. */
export function cacheSize(): { readonly expressions: number; readonly characters: number } {
  return { expressions: cache.size, characters: cachedCharacters };
}

function compileAnew(expression: string): Compiled {
  try {
    if (expression.length > LIMITS.characters)
      refuse(`longer than ${LIMITS.characters} characters`);
    return { program: build(expression) };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

function build(expression: string): Program {
  const uses = usesOf(language().parse(expression).ast);
  const { text, names } = withNames(expression, uses);
  const parsed = language().parse(text);
  const { valid, type, error } = parsed.check();
  if (!valid) throw error ?? new Refusal('does not type-check');
  if (type !== 'bool' && type !== 'dyn') refuse(`gives ${type ?? 'nothing'} and not a boolean`);
  const tree: ASTNode = parsed.ast;
  checkTypes(tree);
  return { uses, names, run: (variables) => parsed(variables) };
}

/**
 * Returns the expression with `nodes.n0`, `nodes.n1`, … for the nodes that it names: has() accepts
 * only names, and node keys need not be names.
 */
function withNames(expression: string, uses: Uses): { text: string; names: Map<string, string> } {
  const names = new Map<string, string>();
  let text = '';
  let from = 0;
  for (const { start, end, key } of [...uses.nodeSpans].sort((a, b) => a.start - b.start)) {
    const name = names.get(key) ?? `n${names.size}`;
    names.set(key, name);
    if (!/^nodes\s*[.[]/.test(expression.slice(start, end)))
      refuse("a node is named nodes['key'], without brackets around nodes");
    text += `${expression.slice(from, start)}nodes.${name}`;
    from = end;
  }
  return { text: text + expression.slice(from), names };
}

/**
 * Returns the library's summary without its drawing of the position; for other errors, the message.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault';
  const summary =
    'summary' in error && typeof error.summary === 'string' ? error.summary : error.message;
  return summary.slice(0, 300);
}
