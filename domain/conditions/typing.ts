/**
 * Refuses uses of amounts that the library's type checker accepts but a condition must not contain.
 */
import type { ASTNode, TypeDeclaration } from '@marcbachmann/cel-js';
import { childrenOf, refuse } from './syntax.ts';

/**
 * A checked syntax node. The library's check sets `checkedType` on every node; its declarations
 * omit it, so test/domain/conditions pins it.
 */
type Checked = ASTNode & { readonly checkedType?: TypeDeclaration };

/** Throws a Refusal if a checked tree compares or adds values that it must not. */
export function checkTypes(node: ASTNode): void {
  for (const child of childrenOf(node)) checkTypes(child);
  switch (node.op) {
    case '<':
    case '<=':
    case '>':
    case '>=':
      if (node.args.some((side) => typeOf(side) === 'string'))
        refuse('strings have no order; compare amounts with dec()');
      return sameKind(node.args[0], node.args[1]);
    case '==':
    case '!=':
    case 'in':
      return sameKind(node.args[0], node.args[1]);
    case '?:':
      return sameKind(node.args[1], node.args[2]);
    case '+':
      // Two values of unknown type may be lists, which grow with every addition.
      if (
        !node.args.some((side) => ['int', 'double', 'string', 'Decimal'].includes(typeOf(side)))
      ) {
        refuse('one side of + must be a literal number, a string or dec()');
      }
      return;
    default:
  }
}

/** Throws unless a decimal is compared with a decimal: a raw amount would never equal a decimal. */
function sameKind(left: ASTNode, right: ASTNode): void {
  if (typeOf(left).includes('Decimal') !== typeOf(right).includes('Decimal')) {
    refuse('a decimal is compared with a decimal: put both sides in dec()');
  }
}

function typeOf(node: Checked): string {
  return node.checkedType?.name ?? 'dyn';
}
