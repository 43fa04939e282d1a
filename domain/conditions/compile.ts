/**
 * From text to something that can be evaluated, or the reason why not; both are kept for the next
 * time.
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
   * The name under which the evaluator finds each node; keys may hold any character, names may not.
   */
  readonly names: ReadonlyMap<string, string>;
  readonly run: (variables: Readonly<Record<string, unknown>>) => unknown;
}

export type Compiled = { readonly program: Program } | { readonly problem: string };

/** What was used longest ago is the first: a Map keeps the order of insertion. */
const cache = new Map<string, Compiled>();
let cachedCharacters = 0;

/** Compiles an expression that is to be evaluated, whichever plan it belongs to. */
export function compile(expression: string): Compiled {
  const compiled = cache.get(expression) ?? compileAnew(expression);
  // What is too long to be a condition is not worth keeping.
  if (expression.length <= LIMITS.characters) keep(expression, compiled);
  return compiled;
}

/**
 * As {@link compile}, for a look at an expression: a plan with many of them must not push out what
 * is evaluated.
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

/** What is kept at present. */
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
 * The expression with `nodes.n0`, `nodes.n1`, … for the nodes it names: has() follows names alone,
 * and node keys need not be names.
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

/** The library's summary without its drawing of the place; anything unexpected by its message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault';
  const summary =
    'summary' in error && typeof error.summary === 'string' ? error.summary : error.message;
  return summary.slice(0, 300);
}
