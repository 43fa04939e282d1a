/**
 * `npm run docs:tables`: writes what pages say of settings, errors, states, imports, chains and
 * licences. With `--check` it writes nothing and fails where a page is not as it would be written,
 * or where a dependency ships under a licence that is not allowed.
 */
import { writeFileSync } from 'node:fs';
import { licenceFaults } from '../../tools/docs/licences.ts';
import { allPages } from './pages.ts';

const faults: string[] = [...licenceFaults()];
for (const { file, is, shouldBe } of allPages()) {
  if (!process.argv.includes('--check')) writeFileSync(file, shouldBe);
  else if (is !== shouldBe) faults.push(`${file} is stale: npm run docs:tables`);
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
