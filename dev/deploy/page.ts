/** Reads the shell blocks of docs/deploy.md, by section. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksIn } from '../../test/support/guide.ts';
import { ROOT } from '../stack/ports.ts';

export interface Section {
  readonly title: string;
  readonly blocks: readonly string[];
}

export function sectionsOf(file: string): readonly Section[] {
  const [, ...parts] = readFileSync(join(ROOT, file), 'utf8').split(/^## /m);
  return parts
    .map((part) => ({
      title: part.slice(0, part.indexOf('\n')),
      blocks: blocksIn(part, 'sh'),
    }))
    .filter(({ blocks }) => blocks.length > 0);
}
