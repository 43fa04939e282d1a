/**
 * Which stops hold back each way of sending. Every sender uses this table; a new way or stop does
 * not compile until all of its cells are filled in. `docs/operations.md` shows the same table.
 */

/** What can forbid a send. */
export const STOPS = [
  /** The cutover mode is frozen. */
  'frozen',
  /** A strategy of the perps venue that takes part is paused. */
  'paused',
  /** The movement was cancelled, and the node does not survive that. */
  'cancelled',
  /** A person has requested that the transaction be cancelled. */
  'cancel_requested',
  /** A payee is revoked, or was never on the allowlist. */
  'payee_revoked',
  /** A payee cools, needs its chain named, or cannot be read. */
  'payee_unusable',
  'executor_inactive',
  'signer_inactive',
  'signer_retired',
  /** The signer is pinned to another address than the one that signed. */
  'signer_mismatch',
  /** The bridge path is not ready. */
  'bridge_path',
  /** Its strategy or master account is not the one that it was prepared for. */
  'perp_terms',
  /** UNKNOWN, and no person has retried it; a resume only has it looked at. */
  'unknown',
] as const;
export type Stop = (typeof STOPS)[number];

/** Each way of sending. */
export const WAYS = [
  /** Through the fence, also under the same key again. */
  'send',
  /** Stored bytes or a stored action that are not known to be accepted outside. */
  'repeat_unaccepted',
  /** The same bytes once more, after something outside accepted them. */
  'repeat_accepted',
  /** New bytes of a payment whose earlier bytes are not known to be accepted outside. */
  'replace_unaccepted',
  'replace_accepted',
  /** A zero-value transaction with the payment's nonce. */
  'cancel_transaction',
  /** A person has an UNKNOWN node looked at. */
  'resume',
  /** A person states the outcome. */
  'resolve',
] as const;
export type Way = (typeof WAYS)[number];

/**
 * `waits`: nothing leaves now, and it is tried again. `ends`: it never leaves; a transaction that
 * moves nothing uses up the nonce. `refused`: this way never sends.
 */
export type Effect = 'passes' | 'waits' | 'ends' | 'refused';

type Row = Readonly<Record<Stop, Effect>>;

const NEVER_TAKEN: Row = {
  frozen: 'waits',
  paused: 'waits',
  cancelled: 'ends',
  cancel_requested: 'ends',
  payee_revoked: 'ends',
  payee_unusable: 'waits',
  executor_inactive: 'waits',
  signer_inactive: 'waits',
  signer_retired: 'ends',
  signer_mismatch: 'waits',
  bridge_path: 'waits',
  perp_terms: 'waits',
  unknown: 'waits',
};

/** All stops pass, except those in `but`. */
function passing(but: Partial<Row>): Row {
  return { ...all('passes'), ...but };
}

function all(effect: Effect): Row {
  return Object.fromEntries(STOPS.map((stop) => [stop, effect])) as unknown as Row;
}

export const EFFECTS: Readonly<Record<Way, Row>> = {
  // Before the fence there is nothing to use up: the node waits while frozen, else it ends FAILED.
  send: {
    ...NEVER_TAKEN,
    paused: 'ends',
    payee_unusable: 'ends',
    executor_inactive: 'ends',
    signer_inactive: 'ends',
    signer_mismatch: 'ends',
    perp_terms: 'ends',
  },
  repeat_unaccepted: NEVER_TAKEN,
  repeat_accepted: passing({ cancel_requested: 'ends', unknown: 'waits' }),
  replace_unaccepted: NEVER_TAKEN,
  replace_accepted: {
    ...NEVER_TAKEN,
    frozen: 'passes',
    cancelled: 'passes',
    payee_revoked: 'waits',
    signer_retired: 'waits',
  },
  cancel_transaction: passing({}),
  resume: all('refused'),
  resolve: all('refused'),
};

/** A stop that is on, and the sentence that says so. */
export interface Stopped {
  readonly stop: Stop;
  readonly why: string;
}

/** What holds a send back. */
export interface Held {
  /** It will never leave. */
  readonly ends: boolean;
  /** Only a person's retry goes on. */
  readonly needs_retry: boolean;
  readonly why: string;
}

/**
 * What holds this way back while these stops are on; null where it may go. An unknown stop, of a
 * newer database, holds too.
 */
export function heldBy(way: Way, stops: readonly Stopped[]): Held | null {
  const row = EFFECTS[way];
  const effectOf = ({ stop }: Stopped): Effect => (Object.hasOwn(row, stop) ? row[stop] : 'waits');
  const by = (effect: Effect) => (each: Stopped) => effectOf(each) === effect;
  const ending = stops.find(by('ends'));
  const waiting = stops.find(by('waits'));
  const first = ending ?? waiting ?? stops.find(by('refused'));
  if (first === undefined) return null;
  return {
    ends: ending !== undefined,
    needs_retry: ending === undefined && stops.some(({ stop }) => stop === 'unknown'),
    why: first.why,
  };
}
