/** The lifecycle of a row of the allowlist: rows are never removed. */
import type { TransitionTable } from './table.ts';

export type AllowedAddressState = 'active' | 'inactive';

export const ALLOWED_ADDRESS_TABLE: TransitionTable<AllowedAddressState> = {
  entity: 'allowed address',
  moves: {
    active: ['inactive'],
    // Adding the same address again or reactivating its row; either way it cools anew.
    inactive: ['active'],
  },
};
