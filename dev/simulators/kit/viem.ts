import { createRequire } from 'node:module';
import type * as Accounts from 'viem/accounts';
import type * as Utils from 'viem/utils';

/**
 * Some functions of viem, loaded from its CommonJS build. The loader that runs TypeScript checks
 * every imported module, and viem has hundreds: CommonJS starts the local chain, for which the
 * whole stack waits, most of a second earlier.
 */
const load = createRequire(import.meta.url);

export const {
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  keccak256,
  parseAbi,
  parseUnits,
  toHex,
} = load('viem/utils') as typeof Utils;
export const { privateKeyToAccount } = load('viem/accounts') as typeof Accounts;
