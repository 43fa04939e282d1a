/** The lifecycle of a signer: a rotation deprecates it; it retires when nothing needs it. */
import type { TransitionTable } from './table.ts';

export const SIGNER_STATUSES = ['active', 'disabled', 'deprecated', 'retired'] as const;
export type SignerStatus = (typeof SIGNER_STATUSES)[number];

export const SIGNER_TABLE: TransitionTable<SignerStatus> = {
  entity: 'signer',
  moves: {
    active: ['disabled', 'deprecated'],
    disabled: ['active'],
    // A deprecated signer signs for the nodes that stayed with it, and for no other.
    deprecated: ['retired'],
    retired: [],
  },
};

/** The statuses that an operator can switch between. Rotation and retirement set the others. */
export const SWITCHED_STATUSES = ['active', 'disabled'] as const satisfies readonly SignerStatus[];
