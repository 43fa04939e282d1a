/** The settings that the API may read. It does not receive any others, so no secrets. */
import type { Config } from '../platform/config.ts';

const NAMES = [
  'apiPrefix',
  'approvalTtlSeconds',
  'authEnabled',
  'balanceStaleSeconds',
  'bridgeSnapshotMaxAgeSeconds',
  'edition',
  'temporalNamespace',
  'temporalUiUrl',
] as const satisfies readonly (keyof Config)[];

export type ApiSettings = Pick<Config, (typeof NAMES)[number]>;

export function apiSettings(config: ApiSettings): ApiSettings {
  // The keys come from the list that defines the type.
  return Object.fromEntries(NAMES.map((name) => [name, config[name]])) as unknown as ApiSettings;
}
