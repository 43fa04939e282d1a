/** Reading the syntax tree of an expression: paths into the data, and the children of a part. */
import type { ASTNode } from '@marcbachmann/cel-js';

/** Why an expression is no condition; the message is for the author of the plan. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

export function refuse(why: string): never {
  throw new Refusal(why);
}

/** A stretch of the expression's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface DataPath {
  readonly root: string;
  readonly path: readonly string[];
  /** For `nodes`: the text that names the node, `nodes['key']` or `nodes.key`. */
  readonly nodeSpan: Span | null;
}

/**
 * The variable a chain of fields begins with and the fields, as far as they are written out; null
 * where it begins with something computed or with a quantifier's variable, or where an index is
 * computed.
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

/** The parts that an expression consists of, one level down; a macro's variable is none. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      // has() looks for a field and evaluates nothing, so its argument has no type.
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

/** How many parts an expression has, itself included. */
export function sizeOf(node: ASTNode): number {
  return childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 1);
}
