/**
 * What was committed, in the order of the commits, and what was switched off at each of them. The
 * database records it when a transaction ends (machine/database.ts).
 */
import { PAYEES } from './payees.ts';
import { WITHDRAWAL } from './plans.ts';

export interface Act {
  /** Its place in the order of all commits. */
  readonly nr: number;
  /** Milliseconds since 1970, by the true clock. */
  readonly at: number;
  /** The table that was written. */
  readonly kind:
    'movements' | 'movement_nodes' | 'cutover' | 'executors' | 'signers' | 'allowed_addresses';
  /** The row: a movement's id, or the key of what was switched. */
  readonly subject: string;
  readonly node_key: string | null;
  readonly attempt: number | null;
  /** The state, mode or status that was written. */
  readonly value: string;
}

/** What a node needs to be sent, as its plan was compiled. */
export interface Needs {
  readonly movement_id: string;
  readonly node_key: string;
  readonly executor_key: string | null;
  readonly signer_key: string | null;
}

/** After a cancel these are sent all the same: they undo what was paid. */
const UNDOES = 'undo';

/** The addresses that a node pays; a desk without payees pays none that a plan names. */
export function payeesOf({ node_key, executor_key }: Needs): readonly string[] {
  if (executor_key === 'keyed.desk' || executor_key === 'blind.desk') return [PAYEES['desk'] ?? ''];
  const own = PAYEES[node_key];
  const paysOwn = executor_key?.startsWith('evm.') === true || executor_key === WITHDRAWAL;
  return paysOwn && own !== undefined ? [own] : [];
}

/** Whether it switches off the cutover mode, an executor, a signer or an address. */
export function switchesOff({ kind, value }: Pick<Act, 'kind' | 'value'>): boolean {
  return (
    (kind === 'cutover' && value === 'frozen') ||
    ((kind === 'executors' || kind === 'signers') && value !== 'active') ||
    (kind === 'allowed_addresses' && value !== 'true')
  );
}

/** What is switched off: `<kind> <subject>`, each with the time since when. */
export class Switches {
  readonly #off = new Map<string, number>();

  take({ kind, subject, value, at }: Act): void {
    const key = nameOf(kind, subject);
    if ((kind === 'movements' && value === 'CANCELLED') || switchesOff({ kind, value }))
      this.#off.set(key, this.#off.get(key) ?? at);
    else if (kind !== 'movement_nodes') this.#off.delete(key);
  }

  /** Why the node may not be sent, and since when, in milliseconds since 1970. */
  against(node: Needs): { readonly why: string; readonly since: number } | null {
    const keys = [
      nameOf('cutover', ''),
      ...(node.node_key === UNDOES ? [] : [nameOf('movements', node.movement_id)]),
      nameOf('executors', node.executor_key ?? ''),
      ...(node.signer_key === null ? [] : [nameOf('signers', node.signer_key)]),
      ...payeesOf(node).map((address) => nameOf('allowed_addresses', address)),
    ];
    const found = keys.flatMap((why) => {
      const since = this.#off.get(why);
      return since === undefined ? [] : [{ why, since }];
    });
    return found.sort((a, b) => a.since - b.since)[0] ?? null;
  }
}

const nameOf = (kind: Act['kind'], subject: string): string =>
  kind === 'cutover' ? 'cutover' : `${kind} ${subject}`;

/** Each pass of a fence: a node that went to SUBMITTING. */
export function fencesOf(acts: readonly Act[]): readonly Act[] {
  return acts.filter(({ kind, value }) => kind === 'movement_nodes' && value === 'SUBMITTING');
}
