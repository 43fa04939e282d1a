/** Description of a setting, and the kinds of values that settings have. */
import { z } from 'zod';
import type { Duty } from './role.ts';

/**
 * Used instead of a field name for a setting that is only a part of a value made of several
 * settings (`Together` in platform/config.ts).
 */
export const PART = null;
type Field = string | typeof PART;

/** One `SVC_*` name: its field, how its text is read, and its documentation. */
export interface Setting<T, F extends Field = Field> {
  /** The field's name in `Config`. */
  readonly field: F;
  /** Description in one sentence. */
  readonly description: string;
  /** The allowed values, for people. */
  readonly type: string;
  /** The default as an operator would write it; null without a default. */
  readonly default: string | null;
  /** Whether the process refuses to start without a value. */
  readonly required: boolean;
  /** Secret values are never shown, and may also come from the file that `<name>_FILE` names. */
  readonly secret: boolean;
  /**
   * Duties that need the setting; a process without any of them neither reads it nor opens its
   * file.
   */
  readonly openedBy: readonly Duty[] | 'all';
  /** Name of another setting: while the other setting is unset, every process opens this one. */
  readonly openedWithout?: string | undefined;
  readonly schema: z.ZodType<T>;
  /** Returns the parts of a secret text that are secrets themselves. */
  readonly parts?: ((text: string) => readonly string[]) | undefined;
}

/** Schema and description of a kind of value. */
export interface Kind<T> {
  readonly type: string;
  readonly schema: z.ZodType<T>;
  /** Returns secret parts; see {@link Setting}. */
  readonly parts?: (text: string) => readonly string[];
}

/** A kind that also says which value an unset setting has. */
export interface KindWithNone<T> extends Kind<T> {
  readonly none: T;
}

interface Options {
  readonly secret?: boolean;
  readonly openedBy?: readonly Duty[] | 'all';
  readonly openedWithout?: string;
}

/** Returns a setting with a default. */
export function standard<const F extends Field, T>(
  field: F,
  kind: Kind<T>,
  otherwise: string,
  description: string,
  options: Options = {},
): Setting<T, F> {
  return {
    ...kind,
    ...optionsOf(options),
    field,
    description,
    default: otherwise,
    required: false,
  };
}

/** Returns a setting that may be unset; its value is then the kind's `none`, or undefined. */
export function optional<const F extends Field, T>(
  field: F,
  kind: KindWithNone<T>,
  description: string,
  options?: Options,
): Setting<T, F>;
export function optional<const F extends Field, T>(
  field: F,
  kind: Kind<T>,
  description: string,
  options?: Options,
): Setting<T | undefined, F>;
export function optional<const F extends Field, T>(
  field: F,
  kind: Kind<T> & { readonly none?: T },
  description: string,
  options: Options = {},
): Setting<T | undefined, F> {
  const { none, ...read } = kind;
  const schema = kind.schema.optional().transform((value) => value ?? none);
  const rest = { field, schema, description, default: null, required: false };
  return { ...read, ...optionsOf(options), ...rest };
}

/** Returns a setting without a default, which must be set. */
export function required<const F extends Field, T>(
  field: F,
  kind: Kind<T>,
  description: string,
  options: Options = {},
): Setting<T, F> {
  return { ...kind, ...optionsOf(options), field, description, default: null, required: true };
}

function optionsOf({
  secret = false,
  openedBy = 'all',
  openedWithout,
}: Options): Pick<Setting<unknown>, 'secret' | 'openedBy' | 'openedWithout'> {
  return { secret, openedBy, openedWithout };
}

export const FLAG: Kind<boolean> = {
  type: 'true or false',
  schema: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true'),
};

export const TEXT: Kind<string> = { type: 'text', schema: z.string().min(1) };

export const FILE: Kind<string> = { type: 'path of a file', schema: z.string().min(1) };

/** Returns the kind of a whole number from `min` to `max`. */
export function whole(min: number, max: number): Kind<number> {
  return {
    type: `whole number, ${String(min)} to ${String(max)}`,
    schema: z
      .string()
      .regex(/^\d+$/, 'must be a whole number')
      .transform(Number)
      .pipe(z.number().min(min).max(max)),
  };
}

/** Returns the kind whose value is one of these words. */
export function oneOf<const W extends string>(...words: readonly W[]): Kind<W> {
  return {
    type: words.join(', '),
    schema: z.enum(words, { error: `must be one of ${words.join(', ')}` }),
  };
}

/** Returns the kind of a text with this pattern; `reason` is the message for another text. */
export function shaped(type: string, pattern: RegExp, reason: string): Kind<string> {
  return { type, schema: z.string().regex(pattern, reason) };
}

/** An http or https URL, parsed without slashes at its end. */
export const WEB_ADDRESS: Kind<string> = {
  type: 'http or https URL',
  schema: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .transform((url) => url.replace(/\/+$/, '')),
};
