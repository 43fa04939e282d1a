/** Defines the fields that a bridge adds to a chain's entry of the venues file. */
import type { Address } from 'viem';
import type { z } from 'zod';
import type { BridgeLane, LANES } from '../../domain/actions/spec.ts';
import type { ChainBridge, ChainToken } from '../../domain/plan/tokens.ts';

/** The fields of a chain's entry that bridges read. */
export interface PartedChain {
  readonly tokens: readonly ChainToken[];
  /** The bridges' settings, keyed by their field in the entry. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** A contract on a chain, with its description. */
export type OwnContract = readonly [what: string, address: Address];

/** How a bridge defines its field in the entries of chains. */
export interface PartDefinition<Part> {
  readonly lane: BridgeLane;
  /** The name of the field in the chain's entry. */
  readonly field: (typeof LANES)[BridgeLane]['entry'];
  readonly schema: z.ZodType<Part>;
  /**
   * Returns conflicts in the field and with those of `earlier` chains; `at` is the field's place.
   */
  faults(
    part: Part,
    chain: PartedChain,
    others: { earlier: readonly Part[]; at: string },
  ): string[];
  /** Returns the contracts from which bridged tokens cannot be recovered. */
  contracts(part: Part): readonly OwnContract[];
  /** Returns the facts that plans and bridge paths read. */
  bridge(part: Part, chain: PartedChain): ChainBridge;
}

/** A bridge's field, readable on any chain; results are empty for a chain without it. */
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
  // Only the output of this bridge's schema is stored under this field.
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
