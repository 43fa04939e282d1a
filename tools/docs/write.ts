/** `npm run docs:tables`: writes what pages say of settings, errors, states, imports and chains. */
import { writeFileSync } from 'node:fs';
import { pages } from './pages.ts';

for (const { file, shouldBe } of pages()) writeFileSync(file, shouldBe);
