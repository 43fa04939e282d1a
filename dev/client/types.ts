/** `npm run client:types`: writes the types and tables of the typed client. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../stack/ports.ts';
import { generatedFiles } from './generated.ts';

for (const [file, text] of await generatedFiles()) writeFileSync(join(ROOT, file), text);
