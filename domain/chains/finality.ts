/**
 * Decides how a bound chain becomes final: from the table, and from what its venue entry chooses.
 */
import { knownChain, type FinalityRead, type KnownChain } from './finality-table.ts';

/** The fields of a venue entry that choose the finality. */
export interface FinalityChoice {
  readonly chain_id: number;
  /** Number of blocks after which an assurance weaker than "finalized" holds. */
  readonly confirmations: number;
  readonly finality?: FinalityRead | undefined;
  readonly finality_confirmations?: number | undefined;
  readonly finality_override?: { readonly reason: string } | undefined;
}

/** How the service finds the newest final block of a bound chain. */
export interface ChainFinality {
  readonly read: FinalityRead;
  /**
   * Number of blocks, including the transaction's own block; null if the chain endpoint's block tag
   * is used.
   */
  readonly confirmations: number | null;
  /** From the table; null for a chain that the table does not list. */
  readonly typical_age_seconds: number | null;
  /** Why the operator accepts less than the table requires; null if the choice is not weaker. */
  readonly override_reason: string | null;
}

export interface FinalityFault {
  readonly field: 'finality' | 'finality_confirmations' | 'finality_override';
  readonly message: string;
}

export type FinalityReading =
  | { readonly ok: true; readonly finality: ChainFinality }
  | { readonly ok: false; readonly faults: readonly FinalityFault[] };

/**
 * Returns the entry's choice, else the table's. Refuses a choice that is weaker than the table
 * (without an override), a chain that neither the table nor the entry describes, and an entry that
 * contradicts itself. The messages say what to write instead.
 */
export function readFinality(entry: FinalityChoice): FinalityReading {
  const known = knownChain(entry.chain_id);
  const chosen = choiceOf(entry, known);
  if ('message' in chosen) return refused(chosen);
  const weaker = known === undefined ? null : whyWeaker(chosen, known);
  if (weaker !== null && entry.finality_override === undefined)
    return refused({ field: blamed(entry), message: weaker });
  if (weaker === null && entry.finality_override !== undefined)
    return refused({
      field: 'finality_override',
      message: 'the entry chooses nothing weaker than the table: leave this field out',
    });
  if (chosen.confirmations !== null && chosen.confirmations < entry.confirmations)
    return refused({
      field: blamed(entry),
      message: `a block is final after ${chosen.confirmations} and confirmed after ${entry.confirmations}: finality must not take fewer blocks than confirmation`,
    });
  return {
    ok: true,
    finality: {
      ...chosen,
      typical_age_seconds: known?.typical_age_seconds ?? null,
      override_reason: entry.finality_override?.reason ?? null,
    },
  };
}

type Chosen = Pick<ChainFinality, 'read' | 'confirmations'>;

function refused(fault: FinalityFault): FinalityReading {
  return { ok: false, faults: [fault] };
}

function blamed({ finality_confirmations }: FinalityChoice): FinalityFault['field'] {
  return finality_confirmations === undefined ? 'finality' : 'finality_confirmations';
}

function choiceOf(entry: FinalityChoice, known: KnownChain | undefined): Chosen | FinalityFault {
  const { chain_id, finality, finality_confirmations: count } = entry;
  if (count !== undefined) {
    return finality === 'finalized_tag'
      ? {
          field: 'finality_confirmations',
          message: 'contradicts "finality": "finalized_tag": leave one of them out',
        }
      : { read: 'confirmations', confirmations: count };
  }
  if (finality === 'finalized_tag') return { read: finality, confirmations: null };
  if (known?.read === 'confirmations')
    return { read: known.read, confirmations: known.confirmations };
  if (finality === 'confirmations')
    return {
      field: 'finality_confirmations',
      message: 'is missing: "finality": "confirmations" takes the number of blocks',
    };
  if (known !== undefined) return { read: known.read, confirmations: null };
  return {
    field: 'finality',
    message: `chain ${chain_id} is not in the table of docs/venues.md: say how it becomes final, with "finality": "finalized_tag" where its nodes have that block tag, else with "finality_confirmations": <blocks>`,
  };
}

/**
 * Returns whether the chain is a developer's own: the table says so, or the table does not list the
 * chain and its endpoint is on this machine.
 */
export function isDevelopment(chainId: number, onThisMachine: boolean): boolean {
  const known = knownChain(chainId);
  return known === undefined ? onThisMachine : known.development === true;
}

/** Returns why the choice is weaker than the table's row; null if it is not weaker. */
function whyWeaker(chosen: Chosen, known: KnownChain): string | null {
  if (known.development === true) return null;
  const chain = `${known.name} (chain ${known.chain_id})`;
  const either =
    'leave it out, or say in "finality_override": {"reason": "…"} why less is enough here';
  if (known.read === 'finalized_tag')
    return chosen.read === 'finalized_tag'
      ? null
      : `${chain} is final by the "finalized" tag of its nodes, and a count of blocks is weaker: ${either}`;
  if (chosen.read === 'finalized_tag')
    return `${chain} is final after ${known.confirmations} blocks, and its "finalized" tag is not relied on: ${either}`;
  return (chosen.confirmations ?? 0) >= known.confirmations
    ? null
    : `${chain} is final after ${known.confirmations} blocks, and fewer are weaker: ${either}`;
}
