/** `npm run sql:migration`: writes the functions migration that is not released yet. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { functionsMigration, needlessMigration } from './functions-migration.ts';

const migration = functionsMigration();
if (migration === null) {
  const needless = needlessMigration();
  if (needless !== null) rmSync(needless, { recursive: true });
} else {
  mkdirSync(dirname(migration.file), { recursive: true });
  writeFileSync(migration.file, migration.text);
}
