/** What an agent proposes: one way for one asset, which may become a template of its namespace. */

export const PROPOSAL_KINDS = ['static', 'ephemeral'] as const;
export type ProposalKind = (typeof PROPOSAL_KINDS)[number];

export const PROMOTION_MODES = ['auto', 'admin'] as const;
export type PromotionMode = (typeof PROMOTION_MODES)[number];

export interface Proposal {
  /** Upper case. */
  readonly asset: string;
  /** One of `PROTOCOL_FAMILIES`, or there is no blueprint for it. */
  readonly protocol_family: string;
  readonly proposal_kind: ProposalKind;
  /** A venue key, or a chain's id in decimal; an exchange's name for the network it pays on. */
  readonly source_chain: string;
  readonly destination_chain: string;
  readonly destination_chain_id: number;
  readonly destination_address: string;
  readonly signer_profile: string;
  readonly requested_notional: string;
  readonly ttl_seconds: number;
}

/**
 * Why the service itself does not promote a proposal, in the order in which reasons are reported.
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
 * The authority's own limits, which an administrator may exceed. Every other reason binds everyone.
 */
const WAIVED: readonly ProposalReason[] = [
  'asset_not_allowed',
  'chain_not_allowed',
  'notional_exceeded',
  'ttl_exceeded',
];

/** The reasons that an administrator's promotion cannot waive. */
export function blocking(reasons: readonly ProposalReason[]): readonly ProposalReason[] {
  return reasons.filter((reason) => !WAIVED.includes(reason));
}

/** Each once, in their order. */
export function inTheirOrder(reasons: readonly ProposalReason[]): readonly ProposalReason[] {
  return PROPOSAL_REASONS.filter((reason) => reasons.includes(reason));
}

/** The key of the template that a proposal becomes a version of. */
export function templateKeyOf(namespace: string, proposal: Proposal): string {
  const { protocol_family, asset, source_chain, destination_chain } = proposal;
  return `${namespace}/${protocol_family}-${asset}-${source_chain}-${destination_chain}`;
}
