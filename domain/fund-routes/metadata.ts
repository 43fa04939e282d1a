/** What a plan says of the way it takes, read from its nodes in their order. */
import type { JsonValue } from '../json.ts';
import type { TemplateNode } from '../plan/types.ts';

export const TRANSPORT_FAMILIES = [
  'cex_withdrawal',
  'onchain_transfer',
  'bridge',
  'perp',
  'mixed',
] as const;
export type TransportFamily = (typeof TRANSPORT_FAMILIES)[number];

export interface FundRouteMetadata {
  readonly transport_family: TransportFamily;
  readonly source_venue: string | null;
  readonly destination_venue: string | null;
  readonly asset: string | null;
}

/**
 * Only action types that carry funds from one place to another; watching for them and moving them
 * within a venue is no way.
 */
const FAMILIES: Readonly<Record<string, TransportFamily>> = {
  cex_withdrawal: 'cex_withdrawal',
  evm_native_transfer: 'onchain_transfer',
  evm_erc20_transfer: 'onchain_transfer',
  cctp_burn: 'bridge',
  cctp_mint: 'bridge',
  bridge_c_send: 'bridge',
  perp_deposit: 'perp',
  perp_withdraw: 'perp',
  agent_wallet_top_up: 'perp',
};

/** They move nothing out of their venue, so they say nothing of the family. */
const WITHIN_A_VENUE: readonly string[] = ['cex_internal_transfer', 'evm_erc20_approve'];

export function fundRouteMetadata(nodes: readonly TemplateNode[]): FundRouteMetadata {
  return {
    transport_family: transportFamily(nodes),
    source_venue: nodes.map(sourceOf).find(isGiven) ?? null,
    destination_venue: nodes.map(destinationOf).findLast(isGiven) ?? null,
    asset: nodes.map(({ config }) => text(config?.['asset'])).find(isGiven) ?? null,
  };
}

/** Its venue is where the node works from, but that of a deposit is where it leads to. */
function sourceOf({ action_type, config }: TemplateNode): string | undefined {
  const source = text(config?.['source_venue']);
  return action_type === 'perp_deposit' ? source : (source ?? text(config?.['venue']));
}

function destinationOf({ action_type, config }: TemplateNode): string | undefined {
  const destination = text(config?.['destination_venue']);
  return action_type === 'perp_deposit' ? (destination ?? text(config?.['venue'])) : destination;
}

/**
 * The one family of all nodes that carry funds; `mixed` where there are several, none, or one of a
 * team's own action type.
 */
function transportFamily(nodes: readonly TemplateNode[]): TransportFamily {
  // A compensation brings funds back, on another way than the plan's.
  const families = nodes.filter(({ node_kind }) => node_kind !== 'compensation').flatMap(familyOf);
  const [first = 'mixed'] = families;
  return families.every((family) => family === first) ? first : 'mixed';
}

function familyOf({ action_type, has_side_effect }: TemplateNode): TransportFamily[] {
  const family = Object.hasOwn(FAMILIES, action_type) ? FAMILIES[action_type] : undefined;
  if (family !== undefined) return [family];
  return has_side_effect && !WITHIN_A_VENUE.includes(action_type) ? ['mixed'] : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isGiven(value: string | undefined): value is string {
  return value !== undefined;
}
