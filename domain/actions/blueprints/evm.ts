/** Plan for a transfer to another address on the same chain. */
import { chainNamed } from '../../plan/tokens.ts';
import { destinationOf, inOneLine, none, signed, tokenOf, type BlueprintMaker } from './parts.ts';

const transfer: BlueprintMaker = (proposal, { chains }) => {
  const chain = destinationOf(proposal, chains);
  if ('problem' in chain) return chain;
  if (chainNamed(chains, proposal.source_chain) !== chain)
    return none('a transfer stays on its chain: source_chain and destination_chain differ');
  const { asset, destination_address } = proposal;
  const { chain_id } = chain;
  const native = asset === chain.native_asset;
  const token = tokenOf(chain, asset);
  if (!native && token === null) return none(`${chain.venue_key} lists no token ${asset}`);
  const node = native
    ? signed(proposal, 'transfer', 'evm_native_transfer', { chain_id, destination_address })
    : signed(proposal, 'transfer', 'evm_erc20_transfer', {
        ...{ chain_id, token_address: token ?? '', destination_address },
      });
  return inOneLine([node], 'destination_finalized');
};

export const EVM_BLUEPRINTS = { onchain_transfer: transfer } as const;
