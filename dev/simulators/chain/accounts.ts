/**
 * Constants of the local chain, the same in every run: the well-known development accounts of anvil
 * ("test test … junk"), each with 10,000 ETH in the first block, and the tokens, whose addresses
 * follow from their deployer and its nonces. These keys are public: they are for the local chain
 * only. The values are written out, so that this module loads no library.
 */
const ACCOUNTS = {
  deployer: {
    address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  },
  venueHotWallet: {
    address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    privateKey: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  },
  signer: {
    address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    privateKey: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  },
  treasury: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
} as const;

const TOKENS = {
  USDC: { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3', decimals: 6 },
  USDT: { address: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512', decimals: 6 },
} as const;

/**
 * Deposit addresses of the paper venue's accounts, derived from the hot wallet's key; see
 * `paper-venue/deposits.ts`.
 */
export const VENUE_DEPOSIT_ADDRESSES = {
  'paper-main': '0x40aBc9b5ad17721D38efC749c38b8781be48328B',
  'paper-sub-a': '0x0dd88F5FFa5B1db543deB1D84cE12B5Ac8fAAeBA',
  'paper-sub-b': '0xE9ef55cAf099596243e0f8617b57CA9C112f3c0f',
} as const;

/** The paper venue's fee for each withdrawal, in units of the asset; none for USDC. */
const WITHDRAWAL_FEES = { USDT: '1' } as const;

/** Default chain id of the local chain; a setting can change it. */
export const CHAIN_ID = 31_337;
/** Mnemonic from which anvil derives the accounts above. */
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

/** The content of `<dataDir>/chain.json`. */
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
  withdrawalFees: Readonly<Record<string, string>>;
}

/** Returns the constants of a local chain at this port. */
export function chainInfo(port: number, chainId: number = CHAIN_ID): ChainInfo {
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    chainId,
    tokens: TOKENS,
    accounts: ACCOUNTS,
    withdrawalFees: WITHDRAWAL_FEES,
  };
}
