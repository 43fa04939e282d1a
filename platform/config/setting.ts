/** What a setting is, and the kinds of values that settings have. */
import { z } from 'zod';
import type { Duty } from './role.ts';

/**
 * The field of a setting that the service sees only as part of a value that several settings make
 * together (`Together` in platform/config.ts).
 */
export const PART = null;
type Field = string | typeof PART;

/**
 * One `SVC_*` name: what it is to the service, how it is read, and what its documentation needs.
 */
export interface Setting<T, F extends Field = Field> {
  /** Its name in `Config`. */
  readonly field: F;
  /** One sentence. */
  readonly description: string;
  /** What may be written, for people. */
  readonly type: string;
  /** The default as an operator would write it; null where there is none. */
  readonly default: string | null;
  /** Whether the process refuses to start without a value. */
  readonly required: boolean;
  /** Never shown, and may also come from the file that `<name>_FILE` names. */
  readonly secret: boolean;
  /** Processes of other duties neither read it nor open its file. */
  readonly openedBy: readonly Duty[] | 'all';
  /** Where this other setting is not set, every process opens it. */
  readonly openedWithout?: string | undefined;
  readonly schema: z.ZodType<T>;
  /** The parts of a secret text that are secrets by themselves. */
  readonly parts?: ((text: string) => readonly string[]) | undefined;
}

/** How a kind of value is read and called. */
export interface Kind<T> {
  readonly type: string;
  readonly schema: z.ZodType<T>;
  /** See {@link Setting}. */
  readonly parts?: (text: string) => readonly string[];
}

/** A kind with a value for an absent setting. */
export interface KindWithNone<T> extends Kind<T> {
  readonly none: T;
}

interface Options {
  readonly secret?: boolean;
  readonly openedBy?: readonly Duty[] | 'all';
  readonly openedWithout?: string;
}

/** A setting with a default. */
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

/** A setting that may stay without a value: then it is what its kind says, else undefined. */
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

/** A setting without a default, which must be set. */
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

/** A whole number from `min` to `max`. */
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

/** One of these words. */
export function oneOf<const W extends string>(...words: readonly W[]): Kind<W> {
  return {
    type: words.join(', '),
    schema: z.enum(words, { error: `must be one of ${words.join(', ')}` }),
  };
}

/** Text of a shape that `reason` tells. */
export function shaped(type: string, pattern: RegExp, reason: string): Kind<string> {
  return { type, schema: z.string().regex(pattern, reason) };
}

/** An http or https address, answered without slashes at its end. */
export const WEB_ADDRESS: Kind<string> = {
  type: 'http or https URL',
  schema: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .transform((url) => url.replace(/\/+$/, '')),
};
