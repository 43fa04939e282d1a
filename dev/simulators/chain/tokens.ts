import { TOKEN_ABI, TOKEN_BYTECODE } from './contracts/token-artifact.ts';
import {
  encodeDeployData,
  getContractAddress,
  parseUnits,
  privateKeyToAccount,
} from '../kit/viem.ts';
import type { ChainInfo } from './accounts.ts';
import type { ChainEngine } from './engine.ts';
import type { Journal } from './journal.ts';

const SUPPLY = '10000000';
const GWEI = 1_000_000_000n;
/** In order of the deployer's nonces, from which the addresses follow. */
const DEPLOYMENTS = [
  { symbol: 'USDC', name: 'Development USD Coin' },
  { symbol: 'USDT', name: 'Development Tether USD' },
] as const;

/** Deploys the tokens unless the journal has them; the paper venue's wallet gets the supply. */
export async function deployTokens(
  engine: ChainEngine,
  journal: Journal,
  info: ChainInfo,
): Promise<void> {
  const { deployer, venueHotWallet } = info.accounts;
  const account = privateKeyToAccount(deployer.privateKey);
  for (const [nonce, { symbol, name }] of DEPLOYMENTS.entries()) {
    const { address, decimals } = info.tokens[symbol];
    if (getContractAddress({ from: account.address, nonce: BigInt(nonce) }) !== address) {
      throw new Error(
        `${symbol} would not be deployed at ${address}; correct the address in chain/accounts.ts.`,
      );
    }
    // Signatures are deterministic, so a deployment is recognised by being the same transaction.
    const raw = await account.signTransaction({
      chainId: info.chainId,
      type: 'eip1559',
      nonce,
      gas: 2_000_000n,
      maxFeePerGas: 100n * GWEI,
      maxPriorityFeePerGas: GWEI,
      data: encodeDeployData({
        abi: TOKEN_ABI,
        bytecode: TOKEN_BYTECODE,
        args: [name, symbol, decimals, venueHotWallet.address, parseUnits(SUPPLY, decimals)],
      }),
    });
    if (journal.view().some((entry) => entry.raw === raw && entry.status !== 'rejected')) continue;
    await engine.send(raw);
  }
  if (journal.pending().length > 0) await engine.mine(1);
}
