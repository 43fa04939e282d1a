/** A test's own signer on the local chain: funds it and makes it pay. */
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  http,
  parseUnits,
  type Address,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainInfo } from '../../dev/stack/chain.ts';
import type { PlanNode } from './plans.ts';

/** Gives the address 10 of the own coin and 1,000 USDC; ends when both are mined. */
export async function fund(chain: ChainInfo, address: Address): Promise<void> {
  const transport = http(chain.rpcUrl);
  const reader = createPublicClient({ transport, cacheTime: 0, pollingInterval: 50 });
  const by = ({ privateKey }: { readonly privateKey: `0x${string}` }) =>
    createWalletClient({ account: privateKeyToAccount(privateKey), transport });
  const { deployer, venueHotWallet } = chain.accounts;
  for (const hash of [
    await by(deployer).sendTransaction({
      chain: null,
      to: address,
      value: parseUnits('10', 18),
    }),
    await by(venueHotWallet).writeContract({
      chain: null,
      address: chain.tokens.USDC.address,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [address, parseUnits('1000', chain.tokens.USDC.decimals)],
    }),
  ])
    await reader.waitForTransactionReceipt({ hash });
}

/** A payment of the chain's own coin to the treasury, by the signer of this profile. */
export function nativePayment(chain: ChainInfo, profile: string, more: object = {}): PlanNode {
  return {
    node_key: 'coin',
    node_kind: 'action',
    action_type: 'evm_native_transfer',
    signer_selector: { chain_family: 'evm', profile },
    has_side_effect: true,
    config: {
      asset: 'ETH',
      chain_id: chain.chainId,
      destination_address: chain.accounts.treasury.address,
    },
    ...more,
  };
}
