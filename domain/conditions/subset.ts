/**
 * Decides which CEL expressions are conditions, from the syntax tree: what they may read, call and
 * repeat. Everything not listed here is refused, so a new library release cannot add features.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { isDecimal } from '../money.ts';
import { INTENT_FIELDS, LIMITS, NODE_FIELDS } from './language.ts';
import { dataPath, refuse, sizeOf } from './syntax.ts';
import { newUses, noteUse, type Uses } from './uses.ts';

const ROOTS: readonly string[] = ['intent', 'input_params', 'nodes'];
const QUANTIFIERS: readonly string[] = ['all', 'exists', 'exists_one'];
const METHODS: Readonly<Record<string, number>> = {
  size: 0,
  contains: 1,
  startsWith: 1,
  endsWith: 1,
};

/** The position of a part in the expression. */
interface Place {
  /** Variables of the quantifiers that contain this part. */
  readonly locals: readonly string[];
  /** True: this part is the argument of `dec()` or `has()`, where `intent.amount` is allowed. */
  readonly takesAmount?: boolean;
}

/** Returns what the expression reads. Throws a Refusal if the tree is not a condition. */
export function usesOf(tree: ASTNode): Uses {
  const uses = newUses();
  visit(tree, { locals: [] }, uses);
  return uses;
}

function visit(node: ASTNode, place: Place, uses: Uses): void {
  const inner: Place = { locals: place.locals };
  switch (node.op) {
    case 'value':
      if (typeof node.args === 'object' && node.args !== null)
        refuse('bytes and unsigned numbers are not part of conditions');
      return;
    case 'id':
    case '.':
    case '[]':
      return visitAccess(node, place, uses);
    case 'call':
      return visitCall(node.args[0], node.args[1], inner, uses);
    case 'rcall':
      return visitMethod(node.args[0], node.args[1], node.args[2], inner, uses);
    case '!_':
    case '-_':
      return visit(node.args, inner, uses);
    case 'map':
    case '.?':
    case '[?]':
      return refuse(
        `${node.op === 'map' ? 'map literals are' : 'optional access is'} not part of conditions`,
      );
    default:
      for (const part of node.args) visit(part, inner, uses);
  }
}

function visitAccess(node: ASTNode, place: Place, uses: Uses): void {
  const found = dataPath(node, place.locals);
  if (found === null) {
    // The base is computed: a list's element, a quantifier's variable, or a computed index. So its
    // parts are visited instead.
    if (node.op === 'id') return;
    if (node.op === '.' || node.op === '[]') visit(node.args[0], { locals: place.locals }, uses);
    if (node.op === '[]') visit(node.args[1], { locals: place.locals }, uses);
    return;
  }
  const { root, path } = found;
  if (!ROOTS.includes(root)) refuse(`unknown variable ${root}`);
  if (root === 'intent') checkIntent(path, place);
  if (root === 'nodes') checkNode(path);
  noteUse(uses, root, path, found.nodeSpan);
}

function checkIntent(path: readonly string[], place: Place): void {
  const [field] = path;
  if (field === undefined) refuse('intent is read by its fields, as in intent.asset');
  if (!Object.hasOwn(INTENT_FIELDS, field)) refuse(`intent has no field ${field}`);
  if (path.length > 1) refuse(`intent.${field} has no fields`);
  if (field === 'amount' && place.takesAmount !== true)
    refuse('intent.amount is compared through dec(intent.amount)');
}

function checkNode(path: readonly string[]): void {
  const [key, field] = path;
  if (key === undefined) refuse("nodes takes a key in quotes, as in nodes['withdraw'].state");
  if (field === undefined)
    refuse(`of nodes['${key}'] only state, output and error_code can be read`);
  if (!Object.hasOwn(NODE_FIELDS, field)) refuse(`nodes['${key}'] has no field ${field}`);
}

function visitCall(name: string, args: readonly ASTNode[], place: Place, uses: Uses): void {
  const [arg] = args;
  if (!['dec', 'has', 'size'].includes(name)) refuse(`${name}() is not part of conditions`);
  if (arg === undefined || args.length > 1) return refuse(`${name}() takes one argument`);
  if (
    name === 'dec' &&
    arg.op === 'value' &&
    typeof arg.args === 'string' &&
    !isDecimal(arg.args)
  ) {
    refuse(`dec(${JSON.stringify(arg.args.slice(0, 40))}) is no decimal`);
  }
  visit(arg, name === 'size' ? place : { ...place, takesAmount: true }, uses);
}

function visitMethod(
  name: string,
  receiver: ASTNode,
  args: readonly ASTNode[],
  place: Place,
  uses: Uses,
): void {
  visit(receiver, place, uses);
  if (!QUANTIFIERS.includes(name)) {
    if (!Object.hasOwn(METHODS, name)) refuse(`${name}() is not part of conditions`);
    if (args.length !== METHODS[name])
      refuse(`${name}() takes ${METHODS[name] === 0 ? 'no argument' : 'one argument'}`);
    for (const arg of args) visit(arg, place, uses);
    return;
  }
  const [variable, predicate] = args;
  if (variable?.op !== 'id' || predicate === undefined)
    return refuse(`${name}() takes a variable and a condition`);
  // Nested quantifiers multiply the work. A single quantifier reads a bounded list once.
  if (place.locals.length > 0)
    refuse(`${name}() inside another quantifier is not part of conditions`);
  if (ROOTS.includes(variable.args)) refuse(`${variable.args} cannot be a variable's name`);
  uses.predicateNodes += sizeOf(predicate);
  if (uses.predicateNodes > LIMITS.predicateNodes)
    refuse(`more than ${LIMITS.predicateNodes} parts inside quantifiers`);
  visit(predicate, { locals: [variable.args] }, uses);
}
