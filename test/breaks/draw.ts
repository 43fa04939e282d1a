/** Draws breaks by a seed: the same ones for as long as the files stay the same. */
import { createHash } from 'node:crypto';
import { idOf, type Break } from './break.ts';
import { sqlBreaks } from './sql.ts';
import { typescriptBreaks } from './typescript.ts';

/** Every break of a file, by its ending. */
export function breaksOf(file: string, text: string): readonly Break[] {
  return file.endsWith('.sql') ? sqlBreaks(file, text) : typescriptBreaks(file, text);
}

/**
 * `count` of all breaks of these files. First the kind of file is drawn and then the break, so that
 * SQL, a tenth of the lines, is a third of the draws.
 */
export function draw(all: readonly Break[], seed: string, count: number): readonly Break[] {
  const by = (sql: boolean): Break[] =>
    all
      .filter(({ file }) => file.endsWith('.sql') === sql)
      .map((each) => ({ each, place: sha256(`${seed} ${idOf(each)}`) }))
      .sort((a, b) => (a.place < b.place ? -1 : 1))
      .map(({ each }) => each);
  const [sql, typescript] = [by(true), by(false)];
  const drawn: Break[] = [];
  while (drawn.length < count && sql.length + typescript.length > 0) {
    const third = drawn.length % 3 === 2;
    const next = (third ? sql.shift() : typescript.shift()) ?? sql.shift() ?? typescript.shift();
    if (next !== undefined) drawn.push(next);
  }
  return drawn;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
