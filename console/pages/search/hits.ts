/** Hits of the search in words, and the pages that they lead to. */

export const KINDS: Readonly<Record<string, string>> = {
  movement: 'Movement',
  capital_transfer: 'Capital transfer',
  proposal: 'Proposal',
  allowed_address: 'Allowed address',
};

export const MATCHED: Readonly<Record<string, string>> = {
  id: 'its id',
  transaction_hash: 'a transaction hash',
  idempotency_key: 'its idempotency key',
  external_reference: 'its reference',
  address: 'an address',
};

/** By kind the page that shows one; `$id` is the hit's. */
export const PLACES: Readonly<Record<string, string>> = {
  movement: '/movements/$id',
  capital_transfer: '/transfers/$id',
  proposal: '/proposals/$id',
  allowed_address: '/allowlist',
};

/** The address of a hit's page below `/console`; null where this release has none for its kind. */
export function pageOf({
  kind,
  id,
}: {
  readonly kind: string;
  readonly id: string;
}): string | null {
  return PLACES[kind]?.replace('$id', id) ?? null;
}
