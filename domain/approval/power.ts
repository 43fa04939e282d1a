/** What a route, a command or a tool can do to where money may go. */

/**
 * Kinds of changes that let more money go, or to more places. A rule of approval may apply to one
 * of them.
 */
export const CHANGE_KINDS = [
  'allowlist',
  'policies',
  'templates',
  'executors',
  'signers',
  'bridge',
  'perps',
  'cutover',
  'keys',
  'approval_rules',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** Capital transfers, and what leads a movement on under that movement's own rules. */
const MOVING_KINDS = ['capital_transfer', 'movement_action'] as const;
type MovingKind = (typeof MOVING_KINDS)[number];

/** Kinds of change requests. */
export const REQUEST_KINDS = [...CHANGE_KINDS, ...MOVING_KINDS] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/**
 * - `reads`: writes nothing that decides about funds;
 * - `moves`: lets funds go, or leads a movement on; with a kind where it may wait for people;
 * - `narrows`: lets fewer funds go, or writes only records, such as a proposal;
 * - `widens`: may let more funds go, or to more places; what does both widens.
 *
 * What a call really widens is seen by the database, in the rows that the call writes: see
 * prisma/functions/change-requests.sql.
 */
export type Power =
  'reads' | 'moves' | 'narrows' | { readonly widens: ChangeKind } | { readonly moves: MovingKind };

/** Returns the kind of change requests that a call of this power may be answered with, or null. */
export function requestKindOf(power: Power): RequestKind | null {
  if (typeof power === 'string') return null;
  return 'widens' in power ? power.widens : power.moves;
}
