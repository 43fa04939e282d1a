/** Which reads an event of the stream makes old. */

/** What the stream says of one change: a reason to read again, and no more. */
export interface Change {
  /** `reset`: events may be missing, so everything is read again. */
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

/** By kind: the operations whose answers it may change, and the parameter that names one thing. */
const READS: Readonly<Record<string, { readonly of: RegExp; readonly parameter?: string }>> = {
  movement: { of: /Movement/, parameter: 'movement_id' },
  capital_transfer: { of: /CapitalTransfer/, parameter: 'transfer_id' },
  callback: { of: /Callback/ },
  proposal: { of: /Proposal/, parameter: 'proposal_id' },
  change_request: { of: /Polic|Budget|Request/ },
  cutover: { of: /Cutover/ },
  balance: { of: /Balance/ },
};

/** Whether an answer, by its operation and input, may be old after a change. */
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
 * What changes with an event alone, or never. What the allowlist, executors, policies or holds say
 * of a movement is a part of its answer, and no event of the movement.
 */
const SAID =
  /^(plan-reading|whoami|listMovements|getMovement(Graph|Timeline|Plan))$|CapitalTransfer|Callback|Proposal|Cutover/;

/** Whether an answer may be old without an event that says so. */
export function changesUnsaid([operation]: readonly unknown[]): boolean {
  return typeof operation === 'string' && !SAID.test(operation);
}
