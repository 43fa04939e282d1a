/** The keys whose signatures the dashboard accepts. */
import type { DashboardKey, DashboardKeys } from '../../platform/dashboard-keys.ts';

/** An operator's key, and its origin: the database or the file. */
export interface OperatorKey extends DashboardKey {
  /**
   * For a key of the database: its id, and whether the key still waits for its confirmation. Such a
   * key signs only with issued nonces. Null for a key of the file.
   */
  readonly enrolled: { readonly key_id: string; readonly pending: boolean } | null;
}

export interface OperatorKeys {
  /** Returns the operator's current key, or null. */
  find(operator: string): Promise<OperatorKey | null>;
  /** Returns whether any operator has a key; without one, writes are switched off. */
  any(): Promise<boolean>;
}

/** Returns the keys of the file; `keys` is null when no file is configured. */
export function fileKeys(keys: DashboardKeys | null): OperatorKeys {
  return {
    find: (operator) => {
      const key = keys?.get(operator);
      return Promise.resolve(key === undefined ? null : { ...key, enrolled: null });
    },
    any: () => Promise.resolve(keys !== null),
  };
}
