/** The lifecycle of a signer: a rotation deprecates it, and it retires once nothing needs it. */
import type { TransitionTable } from './table.ts';

export const SIGNER_STATUSES = ['active', 'disabled', 'deprecated', 'retired'] as const;
export type SignerStatus = (typeof SIGNER_STATUSES)[number];

export const SIGNER_TABLE: TransitionTable<SignerStatus> = {
  entity: 'signer',
  moves: {
    active: ['disabled', 'deprecated'],
    disabled: ['active'],
    // It signs what was left with it and nothing else.
    deprecated: ['retired'],
    retired: [],
  },
};

/** What an operator switches between; the others are reached by a rotation and a retirement. */
export const SWITCHED_STATUSES = ['active', 'disabled'] as const satisfies readonly SignerStatus[];
