/** Every part of the documentation that follows from a table; `npm run docs:tables` writes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIGURATION_FILE, configurationPage } from './configuration.ts';
import { ERRORS_FILE, errorsPage } from './errors.ts';
import { VENUES_FILE, withFinality } from './finality.ts';
import { withImports } from './imports.ts';
import { STATES_FILE, statesPage } from './states.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ARCHITECTURE_FILE = 'docs/architecture.md';

/** Files by their path, each as it is and as it should be. */
export function pages(): readonly { file: string; is: string; shouldBe: string }[] {
  const page = (file: string, make: (is: string) => string) => {
    const is = readFileSync(join(ROOT, file), 'utf8');
    return { file, is, shouldBe: make(is) };
  };
  return [
    page(CONFIGURATION_FILE, configurationPage),
    page(ERRORS_FILE, errorsPage),
    page(STATES_FILE, statesPage),
    page(ARCHITECTURE_FILE, withImports),
    page(VENUES_FILE, withFinality),
  ];
}
