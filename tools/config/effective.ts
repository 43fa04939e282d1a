/** Lists the settings that a service would start with; secrets are hidden. */
import { SETTINGS, type SettingName } from '../../platform/config/settings.ts';
import type { Source, Sourced } from '../../platform/config/source.ts';

export interface EffectiveSetting {
  readonly name: SettingName;
  /** The value in use; for a secret only `set` or `unset`; null when there is no value. */
  readonly value: string | null;
  readonly source: Source;
  readonly secret: boolean;
}

/** Returns every setting, in the order of the documentation. */
export function effectiveSettings(
  texts: ReadonlyMap<SettingName, Sourced>,
): readonly EffectiveSetting[] {
  return [...texts].map(([name, { text, source }]) => {
    const { secret } = SETTINGS[name];
    return {
      name,
      value: secret ? (text === undefined ? 'unset' : 'set') : (text ?? null),
      source,
      secret,
    };
  });
}
