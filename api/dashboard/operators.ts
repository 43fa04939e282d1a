/** The keys whose signatures the dashboard accepts. */
import type { DashboardKey, DashboardKeys } from '../../platform/dashboard-keys.ts';

/** A key, and where it comes from. */
export interface OperatorKey extends DashboardKey {
  /**
   * Of a key of the database: its id, and whether it still waits for its confirmation. Such a key
   * signs with nonces of the service alone. Null for a key of the file.
   */
  readonly enrolled: { readonly key_id: string; readonly pending: boolean } | null;
}

export interface OperatorKeys {
  /** The key that an operator signs with now, or null. */
  find(operator: string): Promise<OperatorKey | null>;
  /** Whether any operator has a key; without one, writes are switched off. */
  any(): Promise<boolean>;
}

/** The keys of the file; null where no file is named. */
export function fileKeys(keys: DashboardKeys | null): OperatorKeys {
  return {
    find: (operator) => {
      const key = keys?.get(operator);
      return Promise.resolve(key === undefined ? null : { ...key, enrolled: null });
    },
    any: () => Promise.resolve(keys !== null),
  };
}
