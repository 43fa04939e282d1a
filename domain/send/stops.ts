/**
 * The table of stops. A stop is a reason that can forbid a send; the table says which kinds of send
 * each stop holds back. Every sender uses this table; a new kind of send or stop does not compile
 * until all of its cells are filled in. `docs/operations.md` shows the same table.
 */

/** The reasons that can forbid a send. */
export const STOPS = [
  /** The cutover mode is frozen. */
  'frozen',
  /** A strategy of the perps venue that the movement affects is paused. */
  'paused',
  /** The movement was cancelled, and this node does not continue after a cancel. */
  'cancelled',
  /** An operator has requested that the transaction be cancelled. */
  'cancel_requested',
  /** A payee is revoked, or was never on the allowlist. */
  'payee_revoked',
  /**
   * A payee is in its cooling period, needs a row that names its chain, or cannot be read; or an
   * address may be the own one of a signer that does not answer.
   */
  'payee_unusable',
  'executor_inactive',
  'signer_inactive',
  'signer_retired',
  /** The signer is pinned to another address than the one that signed. */
  'signer_mismatch',
  /** The bridge path is not ready. */
  'bridge_path',
  /** The perps strategy or master account is not the one that the node was prepared for. */
  'perp_terms',
  /** A clock that the send depends on differs too much from this host's. */
  'clock',
  /**
   * The node is UNKNOWN, and no operator has retried it; a resume only checks the outcome of the
   * send.
   */
  'unknown',
] as const;
export type Stop = (typeof STOPS)[number];

/** The kinds of send. */
export const WAYS = [
  /** A send through the send fence, also a repeat under the same key. */
  'send',
  /** A repeat of stored bytes or of an action that no chain or venue is known to have accepted. */
  'repeat_unaccepted',
  /** A repeat of the same bytes after a chain or venue accepted them. */
  'repeat_accepted',
  /** New bytes of a payment whose earlier bytes no chain or venue is known to have accepted. */
  'replace_unaccepted',
  'replace_accepted',
  /** A zero-value transaction with the payment's nonce. */
  'cancel_transaction',
  /** An operator requests another check of an UNKNOWN node. */
  'resume',
  /** An operator states the outcome. */
  'resolve',
] as const;
export type Way = (typeof WAYS)[number];

/**
 * `waits`: nothing is sent now, and the send is tried again. `ends`: this send is never made; a
 * zero-value transaction uses up the nonce. `refused`: this kind never sends.
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
  clock: 'waits',
  unknown: 'waits',
};

/** Returns a row in which no stop holds back the send, except those in `but`. */
function passing(but: Partial<Row>): Row {
  return { ...all('passes'), ...but };
}

function all(effect: Effect): Row {
  return Object.fromEntries(STOPS.map((stop) => [stop, effect])) as unknown as Row;
}

export const EFFECTS: Readonly<Record<Way, Row>> = {
  // This send has used no nonce yet, so none must be used up: the node waits while frozen or while
  // clocks differ, else it ends FAILED.
  send: {
    ...NEVER_TAKEN,
    paused: 'ends',
    payee_unusable: 'ends',
    executor_inactive: 'ends',
    signer_inactive: 'ends',
    signer_mismatch: 'ends',
    bridge_path: 'ends',
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
    clock: 'passes',
  },
  cancel_transaction: passing({}),
  resume: all('refused'),
  resolve: all('refused'),
};

/** A stop that is in force, with the sentence that explains it. */
export interface Stopped {
  readonly stop: Stop;
  readonly why: string;
}

/** The reason why a send is held back. */
export interface Held {
  /** Whether the send will never be made. */
  readonly ends: boolean;
  /** Whether only an operator's retry can continue. */
  readonly needs_retry: boolean;
  readonly why: string;
}

/**
 * Returns why this kind of send is held back while these stops are in force; null when it may be
 * made. A stop that this version does not know (from a newer database) holds it back too.
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
