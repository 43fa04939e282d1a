import { TOKEN_ABI, TOKEN_BYTECODE } from './contracts/token-artifact.ts';
import {
  encodeDeployData,
  getContractAddress,
  parseUnits,
  privateKeyToAccount,
} from '../kit/viem.ts';
import { FEES } from '../kit/fees.ts';
import type { ChainInfo } from './accounts.ts';
import { deployOnce } from './deploy.ts';
import type { ChainEngine } from './engine.ts';
import type { Journal } from './journal.ts';

const SUPPLY = '10000000';
/** Tokens in the order of the deployer's nonces, which determine their addresses. */
const DEPLOYMENTS = [
  { symbol: 'USDC', name: 'Development USD Coin' },
  { symbol: 'USDT', name: 'Development Tether USD' },
] as const;

/**
 * Deploys the tokens unless the journal contains them; the paper venue's wallet gets the supply.
 */
export async function deployTokens(
  engine: ChainEngine,
  journal: Journal,
  info: ChainInfo,
): Promise<void> {
  const { deployer, venueHotWallet } = info.accounts;
  const account = privateKeyToAccount(deployer.privateKey);
  const transactions = DEPLOYMENTS.map(({ symbol, name }, nonce) => {
    const { address, decimals } = info.tokens[symbol];
    if (getContractAddress({ from: account.address, nonce: BigInt(nonce) }) !== address) {
      throw new Error(
        `${symbol} would not be deployed at ${address}; correct the address in chain/accounts.ts.`,
      );
    }
    return account.signTransaction({
      chainId: info.chainId,
      nonce,
      gas: 2_000_000n,
      ...FEES,
      data: encodeDeployData({
        abi: TOKEN_ABI,
        bytecode: TOKEN_BYTECODE,
        args: [name, symbol, decimals, venueHotWallet.address, parseUnits(SUPPLY, decimals)],
      }),
    });
  });
  await deployOnce(engine, journal, await Promise.all(transactions));
}
