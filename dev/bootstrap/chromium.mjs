// Finds the browser of `npm run test:browser`. None is downloaded: a browser comes from the
// system's packages.
import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
];

/**
 * The program named by SVC_CHROMIUM, else the first of the usual names on PATH.
 *
 * @param {{ readonly [name: string]: string | undefined }} env
 * @returns {string}
 */
export function findChromium({ SVC_CHROMIUM: named, PATH = '' } = process.env) {
  if (named) {
    if (isProgram(named)) return resolve(named);
    throw new Error(`SVC_CHROMIUM is ${named}, which is not an executable program.`);
  }
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(
    isProgram,
  );
  if (found !== undefined) return found;
  throw new Error(
    'No Chromium was found. Install one (Debian: apt-get install chromium), or name one in SVC_CHROMIUM.',
  );
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
