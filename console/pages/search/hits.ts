/** Hits of the search in words, and the pages that they lead to. */
import { PAGES } from '../../routes.ts';

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

/** By kind: the pages that show one, the first that there is; `$id` is the hit's. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  movement: ['/movements/$movement_id'],
  capital_transfer: ['/transfers/$transfer_id', '/transfers'],
  proposal: ['/proposals/$proposal_id', '/proposals'],
  allowed_address: ['/allowlist'],
};

/** The address of a hit's page below `/console`; null where this release has none for its kind. */
export function pageOf({
  kind,
  id,
}: {
  readonly kind: string;
  readonly id: string;
}): string | null {
  const place = PLACES[kind]?.find((path) => PAGES.some((page) => page.path === path));
  return place?.replace(/\$\w+/, id) ?? null;
}
