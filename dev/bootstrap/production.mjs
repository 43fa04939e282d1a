// `npm run build -- --into <folder>`: copies what production runs, for the image and for
// installations without containers.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ROOT } from './install.mjs';

/**
 * Copies the files of production from an up-to-date build into an empty or new folder.
 *
 * @param {string} folder
 */
export function layOutProduction(folder) {
  const into = resolve(folder);
  if (existsSync(into) && readdirSync(into).length > 0)
    throw new Error(`${into} is not empty: name a new folder, or empty it.`);
  const { shipped } = madeFrom('programs');
  const files = [...shipped, 'workflows.js', ...madeFrom('console').made];
  for (const file of files.map((name) => `dist/${name}`)) {
    copy(file, into);
    if (existsSync(join(ROOT, `${file}.map`))) copyMap(`${file}.map`, into);
  }
  // The files that the programs read are those of the npm package.
  const packed = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).files;
  const read = packed.filter((file) => !/^!?dist\b/.test(file));
  for (const file of ['package.json', 'package-lock.json', ...read]) copy(file, into);
  return into;
}

function madeFrom(part) {
  return JSON.parse(readFileSync(join(ROOT, 'dist', `${part}.made-from.json`), 'utf8'));
}

function copy(file, into) {
  mkdirSync(dirname(join(into, file)), { recursive: true });
  cpSync(join(ROOT, file), join(into, file), { recursive: true });
}

/** Maps without sources still give the lines of stack traces. */
function copyMap(file, into) {
  const { sourcesContent: _, ...map } = JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
  writeFileSync(join(into, file), JSON.stringify(map));
}
