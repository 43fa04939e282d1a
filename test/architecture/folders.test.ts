/**
 * Which folder stands on which: of two folders neither of which holds the other, at most one
 * imports from the other. (That a folder and those in it use each other is the way of every folder
 * whose first file joins its parts.) Circles of files are refused by `npm run check`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../dev/stack/ports.ts';

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

const holds = (outer: string, inner: string): boolean =>
  outer === '.' || inner.startsWith(`${outer}/`);

/** `<from> > <to>` of folders, with one import that makes it so. */
function importsOfFolders(): Map<string, string> {
  const found = new Map<string, string>();
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of files
    .trim()
    .split('\n')
    .filter((each) => !each.startsWith('test/'))) {
    for (const [, path = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
      const [from, to] = [dirname(file), dirname(join(dirname(file), path))];
      if (from === to || holds(from, to) || holds(to, from)) continue;
      found.set(`${from} > ${to}`, `${file} imports ${path}`);
    }
  }
  return found;
}

test('no two folders import each other', () => {
  const found = importsOfFolders();
  expect(found.size).toBeGreaterThan(100);
  const both = [...found].flatMap(([way, one]) => {
    const [from, to] = way.split(' > ');
    const other = found.get(`${to} > ${from}`);
    return other === undefined ? [] : [[one, other].sort().join('; ')];
  });
  expect(new Set(both)).toEqual(new Set());
});
