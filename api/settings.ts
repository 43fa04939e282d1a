/** Which settings the API may read. The others, among them every secret, are not handed to it. */
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
  // Picked by the list that the type is made of.
  return Object.fromEntries(NAMES.map((name) => [name, config[name]])) as unknown as ApiSettings;
}
