/** Slips of one token that still compile, mostly: found in the syntax tree, so never in a text. */
import ts from 'typescript';
import type { Break } from './break.ts';

/** What each operator is easily mistaken for. */
const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
};
/** Methods that answer the opposite, or of which one asks less. */
const METHODS: Readonly<Record<string, string>> = {
  every: 'some',
  some: 'every',
  min: 'max',
  max: 'min',
  add: 'subtract',
  subtract: 'add',
};

/** Every slip in a TypeScript file. */
export function typescriptBreaks(file: string, text: string): readonly Break[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const found: Break[] = [];
  const slip = (node: ts.Node, replace: string, kind: string): void => {
    const at = node.getStart(source);
    found.push({ file, at, find: text.slice(at, node.end), replace, kind });
  };
  const visit = (node: ts.Node): void => {
    // Types guard nothing at run time, and imports only names.
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node))
      return;
    if (ts.isBinaryExpression(node)) {
      const operator = node.operatorToken.getText(source);
      const other = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
      if (other !== undefined) slip(node.operatorToken, other, 'operator');
      // One of two conditions is dropped.
      if (operator === '&&') slip(node, node.right.getText(source), 'dropped condition');
      if (operator === '||') slip(node, node.left.getText(source), 'dropped condition');
    } else if (ts.isIfStatement(node)) {
      slip(node.expression, 'false', 'dropped guard');
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      slip(node, node.operand.getText(source), 'negation');
    else if (ts.isNumericLiteral(node)) slip(node, `(${node.getText(source)} + 1)`, 'constant');
    else if (node.kind === ts.SyntaxKind.TrueKeyword) slip(node, 'false', 'constant');
    else if (node.kind === ts.SyntaxKind.FalseKeyword) slip(node, 'true', 'constant');
    else if (ts.isPropertyAccessExpression(node)) {
      const name = node.name.getText(source);
      const other = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
      if (other !== undefined && ts.isCallExpression(node.parent)) slip(node.name, other, 'method');
    } else if (ts.isConditionalExpression(node)) {
      const [yes, no] = [node.whenTrue.getText(source), node.whenFalse.getText(source)];
      const branches = text.slice(node.whenTrue.getStart(source), node.end);
      found.push({
        file,
        at: node.whenTrue.getStart(source),
        find: branches,
        kind: 'swapped branches',
        replace: `${no} : ${yes}`,
      });
    } else if (
      ts.isCallExpression(node) &&
      node.arguments.length === 2 &&
      node.arguments.every(ts.isIdentifier)
    ) {
      const [first, second] = node.arguments;
      if (first !== undefined && second !== undefined) {
        const at = first.getStart(source);
        found.push({
          file,
          at,
          find: text.slice(at, second.end),
          kind: 'swapped arguments',
          replace: `${second.text}, ${first.text}`,
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
