/**
 * What an agent proposes: one route for one asset. It may become a template of the agent's
 * namespace.
 */

export const PROPOSAL_KINDS = ['static', 'ephemeral'] as const;
export type ProposalKind = (typeof PROPOSAL_KINDS)[number];

export const PROMOTION_MODES = ['auto', 'admin'] as const;
export type PromotionMode = (typeof PROMOTION_MODES)[number];

export interface Proposal {
  /** In upper case. */
  readonly asset: string;
  /** One of `PROTOCOL_FAMILIES`. For any other value there is no blueprint. */
  readonly protocol_family: string;
  readonly proposal_kind: ProposalKind;
  /** A venue key, a chain id in decimal, or an exchange's name for the network that it pays on. */
  readonly source_chain: string;
  readonly destination_chain: string;
  readonly destination_chain_id: number;
  readonly destination_address: string;
  readonly signer_profile: string;
  readonly requested_notional: string;
  readonly ttl_seconds: number;
}

/**
 * Why the service does not promote a proposal automatically, in the order in which reasons are
 * reported.
 */
export const PROPOSAL_REASONS = [
  'asset_not_allowed',
  'chain_not_allowed',
  'notional_exceeded',
  'ttl_exceeded',
  'address_not_allowlisted',
  'address_in_cooling_period',
  'signer_profile_unresolved',
  'bridge_path_not_ready',
  'no_blueprint',
] as const;
export type ProposalReason = (typeof PROPOSAL_REASONS)[number];

/**
 * Reasons that an administrator may override: they concern the authority's own limits. No one may
 * override the other reasons.
 */
const WAIVED: readonly ProposalReason[] = [
  'asset_not_allowed',
  'chain_not_allowed',
  'notional_exceeded',
  'ttl_exceeded',
];

/** Returns the reasons that remain when an administrator promotes the proposal. */
export function blocking(reasons: readonly ProposalReason[]): readonly ProposalReason[] {
  return reasons.filter((reason) => !WAIVED.includes(reason));
}

/** Returns each reason once, in the order of {@link PROPOSAL_REASONS}. */
export function inTheirOrder(reasons: readonly ProposalReason[]): readonly ProposalReason[] {
  return PROPOSAL_REASONS.filter((reason) => reasons.includes(reason));
}

/** Returns the key of the template to which the proposal adds a version. */
export function templateKeyOf(namespace: string, proposal: Proposal): string {
  const { protocol_family, asset, source_chain, destination_chain } = proposal;
  return `${namespace}/${protocol_family}-${asset}-${source_chain}-${destination_chain}`;
}
