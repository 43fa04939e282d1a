/** Facts about a plan's route, read from its nodes in plan order. */
import { specOf } from '../actions/built-in.ts';
import type { TransportFamily } from '../actions/spec.ts';
import type { JsonValue } from '../json.ts';
import type { TemplateNode } from '../plan/types.ts';

export interface FundRouteMetadata {
  readonly transport_family: TransportFamily;
  readonly source_venue: string | null;
  readonly destination_venue: string | null;
  readonly asset: string | null;
}

export function fundRouteMetadata(nodes: readonly TemplateNode[]): FundRouteMetadata {
  return {
    transport_family: transportFamily(nodes),
    source_venue: nodes.map(sourceOf).find(isPresent) ?? null,
    destination_venue: nodes.map(destinationOf).findLast(isPresent) ?? null,
    asset: nodes.map(({ config }) => text(config?.['asset'])).find(isPresent) ?? null,
  };
}

/**
 * Returns the source venue. A node's `venue` is its source, except that the `venue` of a deposit is
 * its destination.
 */
function sourceOf({ action_type, config }: TemplateNode): string | undefined {
  const source = text(config?.['source_venue']);
  return specOf(action_type).venue === 'source' ? (source ?? text(config?.['venue'])) : source;
}

function destinationOf({ action_type, config }: TemplateNode): string | undefined {
  const destination = text(config?.['destination_venue']);
  return specOf(action_type).venue === 'destination'
    ? (destination ?? text(config?.['venue']))
    : destination;
}

/**
 * Returns the one family of all nodes that carry funds; `mixed` when there are several families,
 * none, or a node of a team's own action type.
 */
function transportFamily(nodes: readonly TemplateNode[]): TransportFamily {
  // A compensation brings funds back, not along the plan's route.
  const families = nodes.filter(({ node_kind }) => node_kind !== 'compensation').flatMap(familyOf);
  const [first = 'mixed'] = families;
  return families.every((family) => family === first) ? first : 'mixed';
}

/** Returns the node's transport family; empty if it observes funds or moves them within a venue. */
function familyOf({ action_type, has_side_effect }: TemplateNode): TransportFamily[] {
  // The version does not contain what the executor of a team's own action type declares.
  const { transport, sends } = specOf(action_type, { sends: false });
  if (transport !== null) return [transport];
  return has_side_effect && !sends ? ['mixed'] : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isPresent(value: string | undefined): value is string {
  return value !== undefined;
}
