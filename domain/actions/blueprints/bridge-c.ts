/**
 * Plan for bridge_c: an allowance (only if a contract pulls the token), the send and its
 * observation.
 */
import { carriedToken } from '../../plan/tokens.ts';
import type { TemplateNode } from '../../plan/types.ts';
import type { ActionName } from '../spec.ts';
import { allowing, endsOf, inOneLine, none, signed, type BlueprintMaker } from './parts.ts';

const bridgeC: BlueprintMaker = (proposal, { chains }) => {
  const ends = endsOf(proposal, chains);
  if ('problem' in ends) return ends;
  const { source, destination } = ends;
  const [carried, there] = [source, destination].map(({ chain_id: chainId }) =>
    carriedToken(chains, 'bridge_c', { chainId, asset: proposal.asset }),
  );
  const [from, to] = [source, destination].map(
    ({ bridges }) => bridges.bridge_c?.endpoint_identity ?? null,
  );
  if (carried == null || there == null || from == null || to == null)
    return none(`bridge_c does not carry ${proposal.asset} between these chains`);
  const pulls = carried.carrier.toLowerCase() !== carried.token.toLowerCase();
  const send = signed(proposal, 'send', 'bridge_c_send', {
    source_chain_id: source.chain_id,
    destination_chain_id: destination.chain_id,
    destination_address: proposal.destination_address,
  });
  const action_type: ActionName = 'bridge_c_observe';
  const arrive: TemplateNode = {
    node_key: 'arrive',
    node_kind: 'observe',
    action_type,
    executor_selector: { action_type },
    has_side_effect: false,
    config: { match_from: 'send', asset: proposal.asset },
  };
  return inOneLine(
    [...(pulls ? [allowing(proposal, source, carried)] : []), send, arrive],
    'destination_finalized',
    { source: from, destination: to },
  );
};

export const BRIDGE_C_BLUEPRINTS = { bridge_c: bridgeC } as const;
