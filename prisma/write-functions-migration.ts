/** `npm run sql:migration`: writes the migration of the functions. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FUNCTIONS_MIGRATION, functionsMigration } from './functions-migration.ts';

mkdirSync(dirname(FUNCTIONS_MIGRATION), { recursive: true });
writeFileSync(FUNCTIONS_MIGRATION, functionsMigration());
