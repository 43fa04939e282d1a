/**
 * Part of `npm run check`: lints unreleased migrations, and checks that released ones are
 * unchanged.
 */
import { relative } from 'node:path';
import { MIGRATIONS_DIR } from '../../prisma/migration-state.ts';
import { lintFaults, squawk } from './lint.ts';

if (squawk() === null)
  process.stderr.write(
    'squawk is not installed for this machine: our own rules alone were checked.\n',
  );
const faults = await lintFaults(MIGRATIONS_DIR);
for (const fault of faults)
  process.stderr.write(`${fault.replaceAll(MIGRATIONS_DIR, relative('.', MIGRATIONS_DIR))}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
