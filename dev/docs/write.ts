/**
 * `npm run docs:tables`: writes the tables of settings, errors, states, imports, metrics, chains
 * and licences into the pages. With `--check` nothing is written; the command fails when a page is
 * out of date or a dependency's licence is not allowed.
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
