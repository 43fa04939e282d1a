/** What a service would start with, in a form that may be shown to anybody. */
import { SETTINGS, type SettingName } from '../../platform/config/settings.ts';
import type { Source, Sourced } from '../../platform/config/source.ts';

export interface EffectiveSetting {
  readonly name: SettingName;
  /** The text that holds; of a secret only whether there is one; null where there is none. */
  readonly value: string | null;
  readonly source: Source;
  readonly secret: boolean;
}

/** Every setting in the order of the documentation. */
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
