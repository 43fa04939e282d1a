/**
 * The arrival that proves a node's completion: a bridge's message, its delivery, or a payment. One
 * arrival completes only one node. So the database write that completes a node also claims the
 * arrival, whoever reports the completion.
 */
import { specOf } from './actions/built-in.ts';
import { LANES, type ClaimName } from './actions/spec.ts';
import { isObject, type JsonObject } from './json.ts';
import { compare, isDecimal, isPositive } from './money.ts';

export interface Claim {
  /** The kind of arrival and its place. */
  readonly source: string;
  /** Identifies the arrival at that place. */
  readonly reference: string;
  /**
   * How much of the arrival the node takes, and the arrival's total. Messages and deliveries are
   * taken whole.
   */
  readonly amount: string;
  readonly total: string;
  /**
   * Only for a chain's own coin, which shows only as a balance: the blocks between which `total`
   * came to the address. Earlier claims for blocks in that span are part of the total.
   */
  readonly since?: string;
  readonly until?: string;
}

/** A node's claim as stored. A payment in a chain's own coin has no `total`. */
export interface HeldClaim {
  readonly source: string;
  readonly reference: string;
  readonly amount: string;
  readonly total?: string;
  readonly until?: string;
}

/** The node that already holds what another node claims. */
export interface ClaimHolder {
  readonly source: string;
  readonly reference: string;
  readonly movement_id: string;
  readonly node_key: string;
}

/** The report of a completed node, as far as claims need it. */
export interface Completed {
  readonly action_type: string;
  readonly output: JsonObject | null;
  readonly external_ref?: string | null;
  /** The output of the node that this node names (`match_from`, `burn_from`). */
  readonly matched: JsonObject | null;
}

/**
 * Returns the node's claims; empty if the node reports nothing that can be claimed. The database
 * write decides whether the node may complete without a claim (SQL function `needs_claim`).
 */
export function claimsOf(completed: Completed): readonly Claim[] {
  const payments = completed.output?.['payments'];
  if (namesPayments(completed.action_type) && Array.isArray(payments))
    return payments.every(isClaim)
      ? payments.map((each) => ({
          ...each,
          source: each.source.toLowerCase(),
          reference: each.reference.toLowerCase(),
        }))
      : [];
  for (const name of specOf(completed.action_type).claim?.named ?? []) {
    const found = NAMED[name](completed);
    if (found !== null) return takenWhole(completed.action_type, found);
  }
  return [];
}

function takenWhole(kind: string, { place = '', reference }: Named): readonly Claim[] {
  return typeof reference === 'string' && reference !== ''
    ? [{ source: `${kind}${place}`, reference: reference.toLowerCase(), amount: '1', total: '1' }]
    : [];
}

/**
 * Returns whether the output of this type lists the payments that complete the node (`payments`).
 */
export function namesPayments(actionType: string): boolean {
  return specOf(actionType).claim?.named.includes('payments') ?? false;
}

/**
 * Returns where a person who completes a node of this type may name its claim, each place as a path
 * of the request; empty for types that claim nothing.
 */
export function claimPlaces(actionType: string): readonly string[] {
  const { claim, crossing } = specOf(actionType);
  if (claim === null) return [];
  const isAttested = crossing !== null && LANES[crossing.lane].paths === 'attested';
  const fields = claim.stated.map((field) => `output.${field}`);
  return [
    ...(fields.length === 0 ? [] : [fields.join(' and ')]),
    ...(isAttested ? ['mint_tx_hashes'] : []),
  ];
}

/** The fields of a plan node that say where the node waits for payments. */
interface Watch {
  readonly node_kind: string;
  readonly action_type: string;
  readonly asset: string;
  readonly config: JsonObject;
}

/**
 * Returns whether an observe node claimed payments. A team's executor that reports no `payments`
 * claims one reference without an amount.
 */
export const arePayments = (claims: readonly HeldClaim[], of: Watch): boolean =>
  of.node_kind === 'observe' &&
  namesPayments(of.action_type) &&
  claims.length > 0 &&
  claims.every(({ source }) => source !== of.action_type);

/**
 * Returns whether a payment that arrived for one of these nodes may have been meant for the other.
 */
export function arrivesAtSamePlace(one: Watch, other: Watch): boolean {
  const place = placeOf(one);
  return place !== null && place === placeOf(other);
}

/** Returns the place that a node watches; null if a team's executor uses other fields for it. */
function placeOf({ node_kind, action_type, asset, config }: Watch): string | null {
  const { chain_id, address, token_address, venue } = config;
  const named =
    specOf(action_type).watches === 'account'
      ? [venue, asset]
      : [chain_id, address, token_address ?? asset];
  if (named.some((each) => each === undefined || each === null || each === '')) return null;
  return JSON.stringify([node_kind, action_type, ...named]).toLowerCase();
}

interface Named {
  /** The place; it is appended to the action type. */
  readonly place?: string;
  readonly reference: unknown;
}

/** Reads, for each claim name, what a completion reports; null if it reports nothing. */
const NAMED: Readonly<Record<ClaimName, (of: Completed) => Named | null>> = {
  // `payments` is a list, which `claimsOf` has read already.
  payments: () => null,
  message: ({ output }) => messageOf(output),
  matched_message: ({ matched }) => messageOf(matched),
  message_nonce: ({ output }) => named(output?.['message_nonce']),
  packet: ({ output }) => named(guidOf(output)),
  matched_packet: ({ matched }) => named(guidOf(matched)),
  guid: ({ output }) => named(output?.['guid']),
  ledger_hash: ({ output }) => named(output?.['ledger_hash']),
  external_ref: ({ external_ref }) => named(external_ref),
};

function isClaim(value: unknown): value is JsonObject & Claim {
  if (!isObject(value)) return false;
  const { source, reference, amount, total, since = '0', until = '0' } = value;
  return (
    typeof source === 'string' &&
    typeof reference === 'string' &&
    isDecimalText(amount) &&
    isDecimalText(total) &&
    isPositive(amount) &&
    compare(amount, total) <= 0 &&
    [since, until].every((each) => typeof each === 'string' && /^[0-9]{1,30}$/.test(each)) &&
    // Only claims of a chain's own coin have a span of blocks.
    ['since', 'until'].every((name) => name in value === /^evm:\d+:coin$/i.test(source)) &&
    (!/^evm:\d+$/i.test(source) || /^0x[0-9a-f]{64}#\d{1,9}$/i.test(reference))
  );
}

const isDecimalText = (value: unknown): value is string =>
  typeof value === 'string' && isDecimal(value);

function named(reference: unknown): Named | null {
  return reference === undefined || reference === null ? null : { reference };
}

/** Returns the attested message as source domain and nonce. */
function messageOf(output: JsonObject | null): Named | null {
  const bytes = output?.['attested_message'];
  // The message begins with version, source domain and destination domain, 4 bytes each, then the
  // nonce.
  const parts = /^0x[0-9a-f]{8}([0-9a-f]{8})[0-9a-f]{8}([0-9a-f]{64})/i.exec(
    typeof bytes === 'string' ? bytes : '',
  );
  const [, domain, nonce] = parts ?? [];
  if (domain === undefined || nonce === undefined) return null;
  return { place: `:${String(Number.parseInt(domain, 16))}`, reference: `0x${nonce}` };
}

function guidOf(output: JsonObject | null): unknown {
  const packet = output?.['packet'];
  return isObject(packet) ? packet['guid'] : undefined;
}
