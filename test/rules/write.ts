/** `npm run rules:table`: writes docs/rules.md. */
import { writeFileSync } from 'node:fs';
import { table, TABLE_FILE } from './table.ts';

writeFileSync(TABLE_FILE, table());
