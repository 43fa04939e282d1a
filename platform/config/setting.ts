/** What a setting is, and the kinds of values that settings have. */
import { z } from 'zod';

/** One `SVC_*` name: how it is read, and all that its documentation needs. */
export interface Setting<T> {
  /** One sentence. */
  readonly description: string;
  /** What may be written, for people. */
  readonly type: string;
  /** What is used when nothing is given, as somebody would write it; null where nothing is. */
  readonly default: string | null;
  /** Whether the process refuses to start without a value. */
  readonly required: boolean;
  /** Never shown, and may also come from the file that `<name>_FILE` names. */
  readonly secret: boolean;
  readonly schema: z.ZodType<T>;
}

/** How a kind of value is read and called. */
export interface Kind<T> {
  readonly type: string;
  readonly schema: z.ZodType<T>;
}

interface Options {
  readonly secret?: boolean;
}

/** A setting that has a value without being given. */
export function standard<T>(kind: Kind<T>, otherwise: string, description: string, { secret = false }: Options = {}): Setting<T> {
  return { ...kind, description, default: otherwise, required: false, secret };
}

/** A setting that may stay without a value. */
export function optional<T>(kind: Kind<T>, description: string, { secret = false }: Options = {}): Setting<T | undefined> {
  return { ...kind, schema: kind.schema.optional(), description, default: null, required: false, secret };
}

/** A setting that has to be given. */
export function required<T>(kind: Kind<T>, description: string, { secret = false }: Options = {}): Setting<T> {
  return { ...kind, description, default: null, required: true, secret };
}

export const FLAG: Kind<boolean> = {
  type: 'true or false',
  schema: z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true'),
};

export const TEXT: Kind<string> = { type: 'text', schema: z.string().min(1) };

export const FILE: Kind<string> = { type: 'path of a file', schema: z.string().min(1) };

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number): Kind<number> {
  return {
    type: `whole number, ${String(min)} to ${String(max)}`,
    schema: z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max)),
  };
}

/** One of these words. */
export function oneOf<const W extends string>(...words: readonly W[]): Kind<W> {
  return { type: words.join(', '), schema: z.enum(words, { error: `must be one of ${words.join(', ')}` }) };
}

/** Text of a shape that `reason` tells. */
export function shaped(type: string, pattern: RegExp, reason: string): Kind<string> {
  return { type, schema: z.string().regex(pattern, reason) };
}

/** An http or https address, answered without slashes at its end. */
export const WEB_ADDRESS: Kind<string> = {
  type: 'http or https URL',
  schema: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).transform((url) => url.replace(/\/+$/, '')),
};
