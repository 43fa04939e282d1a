import { encodeDeployData, getContractAddress, parseUnits } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { TOKEN_ABI, TOKEN_BYTECODE } from '../contracts/token-artifact.ts';
import { CHAIN_ID, type ChainInfo, devAccounts } from './accounts.ts';
import type { ChainEngine } from './engine.ts';
import type { Journal } from './journal.ts';

const DECIMALS = 6;
const SUPPLY = parseUnits('10000000', DECIMALS);
/** In order of the deployer's nonces, from which the addresses follow. */
const TOKENS = [
  { symbol: 'USDC', name: 'Development USD Coin' },
  { symbol: 'USDT', name: 'Development Tether USD' },
] as const;
const GWEI = 1_000_000_000n;

/** Where the tokens lie, on every run of every local chain. */
export function devTokens(): ChainInfo['tokens'] {
  const from = devAccounts().deployer.address;
  const at = (nonce: number): { address: `0x${string}`; decimals: number } => ({
    address: getContractAddress({ from, nonce: BigInt(nonce) }),
    decimals: DECIMALS,
  });
  return { USDC: at(0), USDT: at(1) };
}

/** Deploys the tokens unless the journal has them; the paper venue's wallet gets the supply. */
export async function deployTokens(engine: ChainEngine, journal: Journal): Promise<void> {
  const { deployer, venueHotWallet } = devAccounts();
  const account = privateKeyToAccount(deployer.privateKey);
  for (const [nonce, { symbol, name }] of TOKENS.entries()) {
    // Signatures are deterministic, so a deployment is recognised by being the same transaction.
    const raw = await account.signTransaction({
      chainId: CHAIN_ID,
      type: 'eip1559',
      nonce,
      gas: 2_000_000n,
      maxFeePerGas: 100n * GWEI,
      maxPriorityFeePerGas: GWEI,
      data: encodeDeployData({
        abi: TOKEN_ABI,
        bytecode: TOKEN_BYTECODE,
        args: [name, symbol, DECIMALS, venueHotWallet.address, SUPPLY],
      }),
    });
    if (journal.view().some((entry) => entry.raw === raw && entry.status !== 'rejected')) continue;
    await engine.send(raw);
  }
  if (journal.pending().length > 0) await engine.mine(1);
}
