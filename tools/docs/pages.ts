/** Pages of the documentation that are built from tables; `npm run docs:tables` writes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIGURATION_FILE, configurationPage } from './configuration.ts';
import { ERRORS_FILE, errorsPage } from './errors.ts';
import { withExchanges } from './exchanges.ts';
import { VENUES_FILE, withFinality } from './finality.ts';
import { withImports } from './imports.ts';
import { LICENCES_FILE, licencesPage } from './licences.ts';
import { OPERATIONS_FILE, withMetrics } from './metrics.ts';
import { STATES_FILE, statesPage } from './states.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ARCHITECTURE_FILE = 'docs/architecture.md';

export interface Page {
  readonly file: string;
  readonly is: string;
  readonly shouldBe: string;
}

/** Returns a file's present text and the text that `make` builds from it. */
export function page(file: string, make: (is: string) => string): Page {
  const is = readFileSync(join(ROOT, file), 'utf8');
  return { file, is, shouldBe: make(is) };
}

/** Returns the pages that are built only from tables of this repository. */
export function pages(): readonly Page[] {
  return [
    page(CONFIGURATION_FILE, configurationPage),
    page(ERRORS_FILE, errorsPage),
    page(STATES_FILE, statesPage),
    page(LICENCES_FILE, licencesPage),
    page(ARCHITECTURE_FILE, withImports),
    page(OPERATIONS_FILE, withMetrics),
    page(VENUES_FILE, (is) => withExchanges(withFinality(is))),
  ];
}
