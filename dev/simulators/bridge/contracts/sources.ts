/** The contracts' source texts, and their digest, which artifacts.ts contains. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../bootstrap/install.mjs';

const FOLDER = join(ROOT, 'dev', 'simulators', 'bridge', 'contracts');

/** File with the compiled contracts, which is checked in. */
export const ARTIFACTS_FILE = join(FOLDER, 'artifacts.ts');

/** Returns name and text of each contract file, ordered by name. */
export function contractSources(): readonly (readonly [name: string, text: string])[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sol'))
    .sort()
    .map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]);
}

/**
 * Returns the line of artifacts.ts with the digest of the sources; it changes when any contract
 * changes.
 */
export function sourcesLine(): string {
  const digest = createHash('sha256').update(JSON.stringify(contractSources())).digest('hex');
  return `// sources ${digest}`;
}
