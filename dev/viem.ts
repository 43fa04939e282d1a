import { createRequire } from 'node:module';

/**
 * A few functions of viem through its CommonJS build. The loader that runs TypeScript looks at every
 * single module that is imported, and viem has hundreds: this way the local chain, for which the
 * whole stack waits, is up most of a second earlier.
 */
const load = createRequire(import.meta.url);

export const { encodeDeployData, getContractAddress, keccak256, parseAbi, parseUnits } = load(
  'viem/utils',
) as typeof import('viem/utils');
export const { privateKeyToAccount } = load('viem/accounts') as typeof import('viem/accounts');
