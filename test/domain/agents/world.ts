/** Two chains with every lane, an exchange's account and the perps venue, for proposals. */
import { createNoopExecutor } from '../../../executors/local/noop.ts';
import type { BoundVenues } from '../../../domain/actions/blueprints/index.ts';
import type { Proposal } from '../../../domain/agents/proposal.ts';
import { LEAST_ASSURANCES, type ExecutorDescriptor } from '../../../domain/executor.ts';
import type { ChainEntry } from '../../../domain/plan/tokens.ts';
import type { SignerDescriptor } from '../../../domain/signer.ts';
import { BRIDGE_C_OBSERVE_DESCRIPTOR } from '../../../venues/bridge-c/observe.ts';
import { BRIDGE_C_SEND_DESCRIPTOR } from '../../../venues/bridge-c/send-act.ts';
import { CCTP_BURN_DESCRIPTOR } from '../../../venues/burn-mint/burn-act.ts';
import { CCTP_MINT_DESCRIPTOR } from '../../../venues/burn-mint/mint.ts';
import { EVM_APPROVE_DESCRIPTOR } from '../../../venues/evm/approve.ts';
import { EVM_TRANSFER_DESCRIPTOR } from '../../../venues/evm/transfer.ts';
import { PERP_DEPOSIT_DESCRIPTOR } from '../../../venues/perp/deposit.ts';

export const address = (of: string): string => `0x${of.repeat(40)}`;
const token = (asset: string, of: string) => ({ asset, address: address(of) });

const chain = (venue_key: string, chain_id: number, of: string): ChainEntry => ({
  ...{ venue_key, chain_id, native_asset: 'ETH' },
  tokens: [token('USDC', of), token('OMNI', 'e'), token('LOCKED', 'd')],
  finality: {
    ...{ read: 'finalized_tag', confirmations: null },
    ...{ typical_age_seconds: null, override_reason: null },
  },
  bridges: {
    burn_and_mint: {
      endpoint_identity: null,
      carriers: [token('USDC', 'b'), token('OMNI', 'b'), token('LOCKED', 'b')],
    },
    bridge_c: {
      endpoint_identity: `${String(chain_id)}:${address(of)}`,
      // The one sends itself, of the other a contract pulls.
      carriers: [token('OMNI', 'e'), token('LOCKED', 'c')],
    },
  },
  deposit_venues: [],
});

export const NEAR: ChainEntry = {
  ...chain('near', 11, '1'),
  deposit_venues: [{ venue_key: 'perps', asset: 'USDC', deposit_address: address('f') }],
};
export const FAR = chain('far', 22, '2');
export const BOUND: BoundVenues = {
  chains: [NEAR, FAR],
  accounts: [{ venue_key: 'exchange', provider: 'paper' }],
};

const withdraws: ExecutorDescriptor = {
  ...createNoopExecutor().descriptor,
  ...{ executor_key: 'paper', provider: 'paper', action_types: ['cex_withdrawal'], sends: true },
};
export const EXECUTORS: readonly ExecutorDescriptor[] = [
  createNoopExecutor().descriptor,
  ...[EVM_TRANSFER_DESCRIPTOR, EVM_APPROVE_DESCRIPTOR, CCTP_BURN_DESCRIPTOR, CCTP_MINT_DESCRIPTOR],
  ...[BRIDGE_C_SEND_DESCRIPTOR, BRIDGE_C_OBSERVE_DESCRIPTOR, PERP_DEPOSIT_DESCRIPTOR, withdraws],
  {
    ...{ ...PERP_DEPOSIT_DESCRIPTOR, executor_key: 'perp.withdraw' },
    ...{ action_types: ['perp_withdraw'], completion_assurances: LEAST_ASSURANCES },
  },
];
export const SIGNERS = [
  { signer_key: 'wallet', chain_family: 'evm', profile: 'treasury', backend: 'local' },
] as readonly SignerDescriptor[];

const BASE: Omit<
  Proposal,
  'protocol_family' | 'source_chain' | 'destination_chain' | 'destination_chain_id'
> = {
  ...{ asset: 'USDC', proposal_kind: 'ephemeral', signer_profile: 'treasury', ttl_seconds: 60 },
  ...{ destination_address: address('a'), requested_notional: '5' },
};
const to = ({ venue_key, chain_id }: ChainEntry) => ({
  ...{ destination_chain: venue_key, destination_chain_id: chain_id },
});

/** One of each family, and of bridge_c both ways that a token is carried. */
export const PROPOSALS: readonly Proposal[] = [
  { protocol_family: 'onchain_transfer', source_chain: 'near', ...to(NEAR) },
  { protocol_family: 'onchain_transfer', asset: 'ETH', source_chain: '11', ...to(NEAR) },
  { protocol_family: 'cctp', source_chain: 'near', ...to(FAR) },
  { protocol_family: 'bridge_c', asset: 'OMNI', source_chain: 'far', ...to(NEAR) },
  { protocol_family: 'bridge_c', asset: 'LOCKED', source_chain: 'near', ...to(FAR) },
  {
    ...{ protocol_family: 'cex_withdrawal', source_chain: 'exchange' },
    ...{ destination_chain: 'erc20', destination_chain_id: 11 },
  },
  {
    ...{ protocol_family: 'perp_deposit', source_chain: 'near' },
    ...{ destination_chain: 'perps', destination_chain_id: 11 },
    destination_address: address('f'),
  },
  { protocol_family: 'perp_withdraw', source_chain: 'perps', ...to(NEAR) },
].map((each) => ({ ...BASE, ...each }));
