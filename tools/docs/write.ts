/** `npm run docs:tables`: writes what the pages say of settings, errors, states and imports. */
import { writeFileSync } from 'node:fs';
import { pages } from './pages.ts';

for (const { file, shouldBe } of pages()) writeFileSync(file, shouldBe);
