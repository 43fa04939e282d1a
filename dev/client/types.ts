/** `npm run client:types`: writes what the typed client knows of the API. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../stack/ports.ts';
import { generatedFiles } from './generated.ts';

for (const [file, text] of await generatedFiles()) writeFileSync(join(ROOT, file), text);
