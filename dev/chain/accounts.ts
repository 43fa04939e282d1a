import { privateKeyToAccount } from 'viem/accounts';

/**
 * The well-known development accounts of anvil ("test test … junk"). Each owns 10,000 ETH in the
 * first block. Everybody knows these keys: they are for the local chain only.
 */
const KEYS = {
  deployer: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  venueHotWallet: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  signer: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  treasury: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
} as const;

/** Chain id of the local chain. */
export const CHAIN_ID = 31_337;
/** The words from which anvil makes the accounts above. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** An account with its key. */
export interface DevAccount {
  address: `0x${string}`;
  privateKey: `0x${string}`;
}

/** A token on the local chain. */
export interface DevToken {
  address: `0x${string}`;
  decimals: number;
}

/** What `<dataDir>/chain.json` tells about the local chain. */
export interface ChainInfo {
  rpcUrl: string;
  chainId: number;
  tokens: { USDC: DevToken; USDT: DevToken };
  accounts: {
    deployer: DevAccount;
    venueHotWallet: DevAccount;
    signer: DevAccount;
    treasury: { address: `0x${string}` };
  };
}

/** The accounts that the stack uses. */
export function devAccounts(): ChainInfo['accounts'] {
  return {
    deployer: account('deployer'),
    venueHotWallet: account('venueHotWallet'),
    signer: account('signer'),
    treasury: { address: account('treasury').address },
  };
}

function account(name: keyof typeof KEYS): DevAccount {
  const privateKey = KEYS[name];
  return { address: privateKeyToAccount(privateKey).address, privateKey };
}
