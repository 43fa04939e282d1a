/** Plans for deposits into the perps venue and for withdrawals from it. */
import { chainNamed } from '../../plan/tokens.ts';
import { destinationOf, inOneLine, none, signed, tokenOf, type BlueprintMaker } from './parts.ts';

const deposit: BlueprintMaker = (proposal, { chains }) => {
  const { asset, destination_chain, destination_chain_id, destination_address } = proposal;
  const chain = chainNamed(chains, proposal.source_chain);
  const perp = chain?.deposit_venues.find(({ venue_key }) => venue_key === destination_chain);
  if (chain === undefined || perp === undefined)
    return none(`no perps venue ${destination_chain} is paid into from ${proposal.source_chain}`);
  const { venue_key: venue, deposit_address } = perp;
  if (
    chain.chain_id !== destination_chain_id ||
    destination_address.toLowerCase() !== deposit_address.toLowerCase()
  )
    return none(
      `deposits go to ${deposit_address} on chain ${String(chain.chain_id)}: name both as the destination`,
    );
  const token = tokenOf(chain, asset);
  if (asset !== perp.asset || token === null) return none(`the perps venue holds ${perp.asset}`);
  const config = {
    ...{ venue, chain_id: chain.chain_id, token_address: token },
    destination_address: deposit_address,
  };
  const node = signed(proposal, 'deposit', 'perp_deposit', config, { provider: 'perp' });
  return inOneLine([node], 'provider_completed');
};

const withdrawal: BlueprintMaker = (proposal, { chains }) => {
  const { asset, source_chain, destination_address } = proposal;
  const chain = destinationOf(proposal, chains);
  if ('problem' in chain) return chain;
  const { chain_id, venue_key } = chain;
  const perp = chain.deposit_venues.find((venue) => venue.venue_key === source_chain);
  if (perp === undefined) return none(`no perps venue ${source_chain} pays out on ${venue_key}`);
  if (asset !== perp.asset) return none(`the perps venue holds ${perp.asset}`);
  const config = { venue: source_chain, chain_id, destination_address };
  const node = signed(proposal, 'withdraw', 'perp_withdraw', config, { provider: 'perp' });
  return inOneLine([node], 'provider_completed');
};

export const PERP_BLUEPRINTS = { perp_deposit: deposit, perp_withdraw: withdrawal } as const;
