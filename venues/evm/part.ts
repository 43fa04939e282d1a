/** The part that a bridge has in a chain's entry of the venues file. */
import type { Address } from 'viem';
import type { z } from 'zod';
import type { BridgeLane, LANES } from '../../domain/actions/spec.ts';
import type { ChainBridge, ChainToken } from '../../domain/plan/tokens.ts';

/** The fields of a chain's entry that bridges' parts read. */
export interface PartedChain {
  readonly tokens: readonly ChainToken[];
  /** The bridges' parts, by field. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** A contract of a chain, with a description. */
export type OwnContract = readonly [what: string, address: Address];

/** The definition of a bridge's part. */
export interface PartDefinition<Part> {
  readonly lane: BridgeLane;
  /** The field of the chain's entry. */
  readonly field: (typeof LANES)[BridgeLane]['entry'];
  readonly schema: z.ZodType<Part>;
  /** Conflicts within it and with the parts of `earlier` chains; `at` is the part's place. */
  faults(
    part: Part,
    chain: PartedChain,
    others: { earlier: readonly Part[]; at: string },
  ): string[];
  /** The contracts from which bridged tokens cannot be recovered. */
  contracts(part: Part): readonly OwnContract[];
  /** The facts that plans and paths read. */
  bridge(part: Part, chain: PartedChain): ChainBridge;
}

/** The part over any chain; empty answers for a chain without it. */
export interface ChainPart<Part = unknown> {
  readonly lane: BridgeLane;
  readonly field: string;
  readonly schema: z.ZodType<Part>;
  of(chain: Pick<PartedChain, 'parts'>): Part | undefined;
  faults(chain: PartedChain, earlier: readonly PartedChain[], at: string): readonly string[];
  contracts(chain: Pick<PartedChain, 'parts'>): readonly OwnContract[];
  bridge(chain: PartedChain): ChainBridge | undefined;
}

export function definePart<Part>(definition: PartDefinition<Part>): ChainPart<Part> {
  const { lane, field, schema } = definition;
  // Only this schema's output is stored under this field.
  const of = ({ parts }: Pick<PartedChain, 'parts'>) => parts[field] as Part | undefined;
  const read = <T>(part: Part | undefined, none: T, from: (part: Part) => T): T =>
    part === undefined ? none : from(part);
  return {
    lane,
    field,
    schema,
    of,
    faults: (chain, earlier, at) =>
      read<readonly string[]>(of(chain), [], (part) =>
        definition.faults(part, chain, {
          earlier: earlier.flatMap((other) => of(other) ?? []),
          at: `${at}.${field}`,
        }),
      ),
    contracts: (chain) => read<readonly OwnContract[]>(of(chain), [], definition.contracts),
    bridge: (chain) =>
      read<ChainBridge | undefined>(of(chain), undefined, (part) => definition.bridge(part, chain)),
  };
}
