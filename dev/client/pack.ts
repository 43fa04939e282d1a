/** `npm run client:pack`: the client as an npm package, `dist/client/`, and its tarball. */
import { pack } from '../packages/pack.ts';
import { CLIENT } from './package.ts';

await pack(CLIENT);
