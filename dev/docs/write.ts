/** `npm run docs:tables`: writes what pages say of settings, errors, states, imports and chains. */
import { writeFileSync } from 'node:fs';
import { allPages } from './pages.ts';

for (const { file, shouldBe } of allPages()) writeFileSync(file, shouldBe);
