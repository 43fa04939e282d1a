/** The lifecycle of an allowlist row. Rows are never deleted. */
import type { TransitionTable } from './table.ts';

export type AllowedAddressState = 'active' | 'inactive';

export const ALLOWED_ADDRESS_TABLE: TransitionTable<AllowedAddressState> = {
  entity: 'allowed address',
  moves: {
    active: ['inactive'],
    // By adding the same address again or reactivating its row; both start a new cooling period.
    inactive: ['active'],
  },
};
