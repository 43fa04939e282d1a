/** `npm run kit:pack`: the kit as an npm package, `dist/executor-kit/`, and its tarball. */
import { pack } from '../packages/pack.ts';
import { KIT } from './package.ts';

await pack(KIT);
