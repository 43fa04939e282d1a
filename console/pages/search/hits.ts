/** Names of search hits, and the pages to which they link. */

export const KINDS: Readonly<Record<string, string>> = {
  movement: 'Movement',
  capital_transfer: 'Capital transfer',
  proposal: 'Proposal',
  change_request: 'Change request',
  allowed_address: 'Allowed address',
};

export const MATCHED: Readonly<Record<string, string>> = {
  id: 'its id',
  transaction_hash: 'a transaction hash',
  idempotency_key: 'its idempotency key',
  external_reference: 'its reference',
  address: 'an address',
};

/** For each kind, the path of the page that shows a hit; `$id` is the hit's id. */
export const PLACES: Readonly<Record<string, string>> = {
  movement: '/movements/$id',
  capital_transfer: '/transfers/$id',
  proposal: '/proposals/$id',
  change_request: '/changes/$id',
  allowed_address: '/allowlist',
};

/**
 * Returns the path of a hit's page below `/console`; null when this release has no page for its
 * kind.
 */
export function pageOf({
  kind,
  id,
}: {
  readonly kind: string;
  readonly id: string;
}): string | null {
  return PLACES[kind]?.replace('$id', id) ?? null;
}
