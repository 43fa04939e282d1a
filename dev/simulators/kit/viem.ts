import { createRequire } from 'node:module';
import type * as Accounts from 'viem/accounts';
import type * as Utils from 'viem/utils';

/**
 * A few functions of viem through its CommonJS build. The loader that runs TypeScript looks at
 * every single module that is imported, and viem has hundreds: this way the local chain, for which
 * the whole stack waits, is up most of a second earlier.
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
