/** A payment of the chain's token from an account that is no signer of the service. */
import {
  createWalletClient,
  erc20Abi,
  http,
  parseUnits,
  type Address,
  type Hash,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { TestChain } from './chain.ts';

/** Mined when it is answered. */
export async function payToken(
  chain: TestChain,
  key: string,
  { to, tokens }: { readonly to: Address; readonly tokens: string },
): Promise<Hash> {
  const account = privateKeyToAccount(key as Hex);
  const wallet = createWalletClient({ account, transport: http(chain.url) });
  const hash = await wallet.writeContract({
    chain: null,
    address: chain.token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to, parseUnits(tokens, 6)],
  });
  await chain.mined(hash);
  return hash;
}
