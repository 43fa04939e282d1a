/**
 * Compares an intent with its plan. A built-in executor reads its node's config alone, so a payee
 * or venue that only the intent names would be approved, and nothing would be sent to it.
 */
import { isBuiltIn, specOf } from '../actions/built-in.ts';
import { sameAddress } from '../allowlist/address.ts';
import { unpadded } from '../allowlist/unpadded.ts';
import type { JsonValue } from '../json.ts';
import type { CompiledNode, CompiledPlan, Intent } from '../plan/types.ts';

const PLACES = ['destination_address', 'chain_id', 'source_venue', 'destination_venue'] as const;
type Place = (typeof PLACES)[number];

/** Config fields that name whom a node pays, allows to pull, or whose balance it observes. */
const PAYEE_FIELDS = [
  'destination_address',
  'mint_recipient',
  'spender',
  'sub_account_address',
  'address',
];
const CHAIN_FIELDS = ['chain_id', 'source_chain_id', 'destination_chain_id'];

/**
 * Returns the fields of the intent that no node of the plan has. Chains and venues count only where
 * the plan names some: an exchange withdrawal names its network, and an on-chain transfer no venue.
 * Venues count only where one node sends. Empty if a team's type sends something, since its
 * executor may read the intent. A payee that the plan leaves open counts only if each executor that
 * sends is in `local` (keys of the service's own executors): others get the intent.
 */
export function unreadFields(
  { nodes, intent }: Pick<CompiledPlan, 'nodes' | 'intent'>,
  local: ReadonlySet<string>,
): readonly Place[] {
  const senders = nodes.filter((node) => node.sends);
  if (senders.length === 0 || !senders.every(({ action_type }) => isBuiltIn(action_type)))
    return [];
  const areOurs = senders.every(({ executor_binding: of }) => local.has(of.executor_key));
  return PLACES.filter((place) => {
    const wanted = intent[place];
    if (wanted === undefined) return false;
    // Of several nodes that send, each but one is a way station of which an intent says nothing.
    if (isVenue(place) && senders.length > 1) return false;
    const named = nodes.flatMap((node) => namedBy(node, place));
    if (named.length === 0) return areOurs && place === 'destination_address';
    return !named.some((value) => isSame(place, value, wanted));
  });
}

function isVenue(place: Place): boolean {
  return place === 'source_venue' || place === 'destination_venue';
}

function namedBy(node: CompiledNode, place: Place): readonly JsonValue[] {
  return fieldsOf(node, place).flatMap((field) => {
    const value = node.config[field];
    return value === undefined || value === null || value === '' ? [] : [value];
  });
}

/** Returns the config fields of a node that can name the place. */
function fieldsOf({ action_type, sends }: CompiledNode, place: Place): readonly string[] {
  const { idle, pool, venue } = specOf(action_type);
  if (place === 'destination_address') return idle ? [] : PAYEE_FIELDS;
  // An exchange withdrawal reads its network, and no chain.
  if (place === 'chain_id') return idle || pool === 'exchange' ? [] : CHAIN_FIELDS;
  // The venue of a node that observes a deposit is where the funds arrive.
  const ofVenue =
    place === 'source_venue'
      ? sends && venue === 'source'
      : venue === 'destination' || (!idle && !sends);
  return ofVenue ? [place, 'venue'] : [place];
}

function isSame(place: Place, value: JsonValue, wanted: Intent[Place]): boolean {
  if (place !== 'destination_address') return value === wanted;
  return (
    typeof value === 'string' &&
    typeof wanted === 'string' &&
    sameAddress(unpadded(value), unpadded(wanted))
  );
}
