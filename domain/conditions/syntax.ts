/** Reads the syntax tree of an expression: paths into the data, and the children of a part. */
import type { ASTNode } from '@marcbachmann/cel-js';

/** Thrown when an expression is not a condition. The message is for the author of the plan. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

export function refuse(why: string): never {
  throw new Refusal(why);
}

/** A range of the expression's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface DataPath {
  readonly root: string;
  readonly path: readonly string[];
  /** For `nodes`: the range of the text that names the node, `nodes['key']` or `nodes.key`. */
  readonly nodeSpan: Span | null;
}

/**
 * Returns the variable and the field names of a chain of fields; null if the chain begins with a
 * computed part or a quantifier's variable, or has a computed index.
 */
export function dataPath(node: ASTNode, locals: readonly string[]): DataPath | null {
  const path: string[] = [];
  let at = node;
  let outermost: ASTNode | null = null;
  while (at.op === '.' || at.op === '[]') {
    const key = at.op === '.' ? at.args[1] : at.args[1].op === 'value' ? at.args[1].args : null;
    if (typeof key !== 'string') return null;
    path.unshift(key);
    outermost = at;
    at = at.args[0];
  }
  if (at.op !== 'id' || locals.includes(at.args)) return null;
  const nodeSpan =
    at.args === 'nodes' && outermost !== null ? { start: at.start, end: outermost.end } : null;
  return { root: at.args, path, nodeSpan };
}

/** Returns the direct parts of an expression. The variable of a macro is not a part. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      // has() only checks that a field exists and evaluates nothing, so its argument has no type.
      return node.args[0] === 'has' ? [] : node.args[1];
    case 'rcall':
      return [
        node.args[1],
        ...node.args[2].filter(
          (arg, index) => index > 0 || node.args[2].length < 2 || arg.op !== 'id',
        ),
      ];
    case '!_':
    case '-_':
      return [node.args];
    case 'map':
      return node.args.flat();
    default:
      return node.args;
  }
}

/** Returns the number of parts in an expression, including the expression itself. */
export function sizeOf(node: ASTNode): number {
  return childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 1);
}
