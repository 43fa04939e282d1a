/** Plan for a withdrawal from an exchange. The proposal names the network as the exchange does. */
import { chainNamed } from '../../plan/tokens.ts';
import { destinationOf, inOneLine, none, sending, type BlueprintMaker } from './parts.ts';

const withdrawal: BlueprintMaker = (proposal, { chains, accounts }) => {
  const { asset, source_chain, destination_chain, destination_address } = proposal;
  const account = accounts.find(({ venue_key }) => venue_key === source_chain);
  if (account === undefined) return none(`${source_chain} is no account of an exchange`);
  // The approver also sees the proposal's chain id. If the network is named like a chain of this
  // service, the chain id must be that chain's.
  if (chainNamed(chains, destination_chain) !== undefined) {
    const chain = destinationOf(proposal, chains);
    if ('problem' in chain) return chain;
  }
  const config = {
    venue: source_chain,
    asset,
    network: destination_chain,
    destination_address,
    chain_id: proposal.destination_chain_id,
    amount_ref: 'intent',
  };
  const { provider } = account;
  const node = sending('withdraw', 'cex_withdrawal', config, { provider });
  return inOneLine([node], 'provider_completed');
};

export const CEX_BLUEPRINTS = { cex_withdrawal: withdrawal } as const;
