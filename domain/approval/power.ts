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

/**
 * Kinds of change requests: beside changes that widen, capital transfers, and what leads a movement
 * on under that movement's own rules.
 */
export const REQUEST_KINDS = [...CHANGE_KINDS, 'capital_transfer', 'movement_action'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/**
 * - `reads`: writes nothing that decides about funds;
 * - `moves`: lets funds go, or leads a movement on;
 * - `narrows`: lets fewer funds go, or writes only records, such as a proposal;
 * - `widens`: may let more funds go, or to more places; what does both widens.
 *
 * What a call really widens is seen by the database, in the rows that the call writes: see
 * prisma/functions/change-requests.sql.
 */
export type Power = 'reads' | 'moves' | 'narrows' | { readonly widens: ChangeKind };
