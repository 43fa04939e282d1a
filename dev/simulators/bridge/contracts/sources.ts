/** The contracts' texts, and the digest by which artifacts.ts says what it was made of. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../bootstrap/install.mjs';

const FOLDER = join(ROOT, 'dev', 'simulators', 'bridge', 'contracts');

/** Where the compiled contracts are checked in. */
export const ARTIFACTS_FILE = join(FOLDER, 'artifacts.ts');

/** Name and text of each, in order of the names. */
export function contractSources(): readonly (readonly [name: string, text: string])[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sol'))
    .sort()
    .map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]);
}

/** The line of artifacts.ts that is another one as soon as a contract is. */
export function sourcesLine(): string {
  const digest = createHash('sha256').update(JSON.stringify(contractSources())).digest('hex');
  return `// sources ${digest}`;
}
