/**
 * What a node's completion rests on, where that is something that arrived: a bridge's message, its
 * delivery, a payment. It answers for one node alone, so the node claims it in the write that
 * completes it, whoever says that it is completed.
 */
import { specOf } from './actions/built-in.ts';
import type { ClaimName } from './actions/spec.ts';
import { isObject, type JsonObject } from './json.ts';
import { compare, isDecimal, isPositive } from './money.ts';

export interface Claim {
  /** What it is and where it is known. */
  readonly source: string;
  /** Which one of these. */
  readonly reference: string;
  /** What the node takes of it, and all of it; a message and a delivery are one, taken whole. */
  readonly amount: string;
  readonly total: string;
  /**
   * Of a chain's own coin, which shows as a balance alone: the blocks between which `total` came to
   * the address. What others claimed of a time that reaches into it is part of that.
   */
  readonly since?: string;
  readonly until?: string;
}

/** What a node has claimed, as it is stored: of a chain's own coin the payment has no `total`. */
export interface HeldClaim {
  readonly source: string;
  readonly reference: string;
  readonly amount: string;
  readonly total?: string;
  readonly until?: string;
}

/** Who holds what another node claims. */
export interface ClaimHolder {
  readonly source: string;
  readonly reference: string;
  readonly movement_id: string;
  readonly node_key: string;
}

/** What a node says when it is completed. */
export interface Completed {
  readonly action_type: string;
  readonly output: JsonObject | null;
  readonly external_ref?: string | null;
  /** What the node recorded that this one names (`match_from`, `burn_from`). */
  readonly matched: JsonObject | null;
}

/**
 * What the node claims; empty where it says of nothing what could be claimed. Whether it is
 * completed without a claim the write says (`needs_claim` in prisma/functions).
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

/** Whether it says in its output `payments` what it is completed with. */
export function namesPayments(actionType: string): boolean {
  return specOf(actionType).claim?.named.includes('payments') ?? false;
}

/** What of a plan's node says what it looks at. */
interface Watch {
  readonly node_kind: string;
  readonly action_type: string;
  readonly asset: string;
  readonly config: JsonObject;
}

/**
 * Whether the node only looks, and claimed payments. The reference of a team's executor that names
 * no `payments` is one of one, which says nothing of an amount.
 */
export const arePayments = (claims: readonly HeldClaim[], of: Watch): boolean =>
  of.node_kind === 'observe' &&
  namesPayments(of.action_type) &&
  claims.length > 0 &&
  claims.every(({ source }) => source !== of.action_type);

/** Whether a payment that arrived for one of these nodes may as well have been for the other. */
export function arrivesAtSamePlace(one: Watch, other: Watch): boolean {
  const place = placeOf(one);
  return place !== null && place === placeOf(other);
}

/** Where it looks; null where a team's executor has a name of its own for that. */
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
  /** Where it is known, behind the action type. */
  readonly place?: string;
  readonly reference: unknown;
}

/** What a completion says by each name; null where it says nothing. */
const NAMED: Readonly<Record<ClaimName, (of: Completed) => Named | null>> = {
  // A list, which `claimsOf` has read before.
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
    // Of a chain's own coin, and of nothing else, a time is claimed.
    ['since', 'until'].every((name) => name in value === /^evm:\d+:coin$/i.test(source)) &&
    (!/^evm:\d+$/i.test(source) || /^0x[0-9a-f]{64}#\d{1,9}$/i.test(reference))
  );
}

const isDecimalText = (value: unknown): value is string =>
  typeof value === 'string' && isDecimal(value);

function named(reference: unknown): Named | null {
  return reference === undefined || reference === null ? null : { reference };
}

/** The message that was attested, by source domain and nonce. */
function messageOf(output: JsonObject | null): Named | null {
  const bytes = output?.['attested_message'];
  // Version, source domain and destination domain, 4 bytes each, then the nonce.
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
