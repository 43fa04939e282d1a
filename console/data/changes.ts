/** Decides which cached reads an event of the stream makes old. */

/** An event of the stream: only a reason to read again, without the changed data. */
export interface Change {
  /** One of {@link KINDS}. `reset`: events may be missing, so everything is read again. */
  readonly kind: string;
  readonly ids: Readonly<Record<string, unknown>>;
}

export const KINDS = [
  'movement',
  'capital_transfer',
  'callback',
  'proposal',
  'change_request',
  'cutover',
  'balance',
  'reset',
] as const;

/**
 * For each kind of event: the operations whose results may have changed, and the parameter that
 * identifies one object.
 */
const READS: Readonly<Record<string, { readonly of: RegExp; readonly parameter?: string }>> = {
  movement: { of: /Movement/, parameter: 'movement_id' },
  capital_transfer: { of: /CapitalTransfer/, parameter: 'transfer_id' },
  callback: { of: /Callback/ },
  proposal: { of: /Proposal/, parameter: 'proposal_id' },
  change_request: { of: /Polic|Budget|Request/ },
  cutover: { of: /Cutover/ },
  balance: { of: /Balance/ },
};

/**
 * Returns whether the cached result of a read may be old after a change. `queryKey` holds the
 * operation and its input.
 */
export function mayBeOld(queryKey: readonly unknown[], { kind, ids }: Change): boolean {
  const reads = READS[kind];
  if (reads === undefined) return true;
  const [operation, input] = queryKey;
  if (typeof operation !== 'string' || !reads.of.test(operation)) return false;
  const { parameter } = reads;
  if (parameter === undefined) return true;
  const { params = {} } = (input ?? {}) as { readonly params?: Readonly<Record<string, unknown>> };
  const named = params[parameter];
  return named === undefined || ids[parameter] === undefined || named === ids[parameter];
}

/**
 * Operations whose results never change, or change only with an event. Holds, executors, policies
 * and the allowlist also influence a movement's result, but send no event of the movement.
 */
const SAID =
  /^(plan-reading|document-reading|whoami|listMovements|getMovement(Graph|Timeline|Plan))$|CapitalTransfer|Callback|Proposal|Cutover/;

/** Returns whether the cached result of a read may be old although no event was received. */
export function changesUnsaid([operation]: readonly unknown[]): boolean {
  return typeof operation === 'string' && !SAID.test(operation);
}
