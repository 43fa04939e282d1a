/** Slips of one token in the SQL of functions, outside of comments and texts. */
import type { Break } from './break.ts';

const SLIPS: readonly (readonly [kind: string, token: RegExp, other: string])[] = [
  ['operator', /(?<![<>=!:|-])<=(?!>)/g, '<'],
  ['operator', /(?<![<>=!:|-])>=(?!>)/g, '>'],
  ['operator', /(?<![<>=!:|@?-])<(?![<>=@])/g, '<='],
  ['operator', /(?<![<>=!:|@?-])>(?![<>=@])/g, '>='],
  ['operator', /<>/g, '='],
  ['operator', /(?<![<>=!:|?])=(?![=>])/g, '<>'],
  ['operator', /\bAND\b(?! LATERAL)/g, 'OR'],
  ['operator', /\bOR\b(?! REPLACE)/g, 'AND'],
  ['negation', /\bNOT IN\b/g, 'IN'],
  ['negation', /\bIS NOT NULL\b/g, 'IS NULL'],
  ['negation', /\bIS NULL\b/g, 'IS NOT NULL'],
  ['negation', /\bNOT EXISTS\b/g, 'EXISTS'],
  ['negation', /\bIS DISTINCT FROM\b/g, 'IS NOT DISTINCT FROM'],
  ['dropped lock', / FOR (NO KEY )?(UPDATE|SHARE)( OF \w+)?(?! SKIP)/g, ''],
  ['function', /\bleast\(/g, 'greatest('],
  ['function', /\bgreatest\(/g, 'least('],
  ['function', /\bmax\(/g, 'min('],
  ['function', /\bmin\(/g, 'max('],
  ['constant', /\btrue\b/g, 'false'],
  ['constant', /\bfalse\b/g, 'true'],
  ['constant', /(?<![\w.'$[])[1-9]\d*(?![\w.'\]])/g, ''],
];

/** Every slip in a file of functions. */
export function sqlBreaks(file: string, text: string): readonly Break[] {
  const code = withoutTexts(text);
  return SLIPS.flatMap(([kind, token, other]) =>
    [...code.matchAll(token)]
      // What a function is declared as is no guard.
      .filter(({ index }) => !isDeclaration(code, index))
      .map(({ 0: find, index }) => ({
        file,
        at: index,
        find,
        kind,
        replace: kind === 'constant' && other === '' ? String(Number(find) + 1) : other,
      })),
  );
}

/** As long as the text, with blanks where comments and quoted texts stand. */
function withoutTexts(text: string): string {
  return text.replace(/--[^\n]*|'(?:[^']|'')*'/g, (part) => part.replace(/[^\n]/g, ' '));
}

function isDeclaration(code: string, at: number): boolean {
  const line = code.slice(code.lastIndexOf('\n', at) + 1, code.indexOf('\n', at) + 1);
  return /^\s*(CREATE|RETURNS|DECLARE|LANGUAGE)\b|^\s*\w+ \w+(\[\])?( :=.*)?;\s*$/.test(line);
}
