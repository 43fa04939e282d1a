/**
 * Plan for burn-and-mint: an allowance, a burn and a mint of the intent's amount. It pays no fee
 * for a fast transfer.
 */
import { carriedToken } from '../../plan/tokens.ts';
import {
  allowing,
  endsOf,
  inOneLine,
  none,
  signed,
  tokenOf,
  type BlueprintMaker,
} from './parts.ts';

const burnAndMint: BlueprintMaker = (proposal, { chains }) => {
  const ends = endsOf(proposal, chains);
  if ('problem' in ends) return ends;
  const { source, destination } = ends;
  const { asset } = proposal;
  if ([source, destination].some((end) => tokenOf(end, asset) === null))
    return none(`${asset} is not listed on both chains`);
  const [carried, there] = [source, destination].map(({ chain_id: chainId }) =>
    carriedToken(chains, 'burn_and_mint', { chainId, asset }),
  );
  if (carried == null || there == null)
    return none('burn-and-mint is not configured on both chains');
  const burn = signed(proposal, 'burn', 'cctp_burn', {
    source_chain_id: source.chain_id,
    destination_chain_id: destination.chain_id,
    token_address: carried.token,
    mint_recipient: proposal.destination_address,
    max_fee: '0',
    finality: 'standard',
  });
  // The mint receives the amount of its burn, so its config has no amount.
  const config = { asset, burn_from: 'burn' };
  const mint = { ...signed(proposal, 'mint', 'cctp_mint', {}), config };
  return inOneLine([allowing(proposal, source, carried), burn, mint], 'destination_finalized');
};

export const BURN_MINT_BLUEPRINTS = { cctp: burnAndMint } as const;
