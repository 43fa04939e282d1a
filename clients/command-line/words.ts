/** How values of the API are written for people, and read from them. */
import { readFileSync } from 'node:fs';
import { EXIT, CommandError, usageError } from './exit.ts';
import type { Io } from './io.ts';
import { pairs } from './options.ts';
import { reasonOf } from './profiles.ts';

export { age, duration, timeOfDay, when } from './times.ts';

export type Json = Readonly<Record<string, unknown>>;

/** What moves at most: `250.5 USDC`, with a mark where nothing bounds it. */
export function moneyOf(
  entries: readonly { readonly asset: string; readonly amount: string | null }[] | null,
): string {
  if (entries === null) return '';
  if (entries.length === 0) return 'nothing';
  return entries.map(({ asset, amount }) => `${amount ?? 'UNBOUNDED'} ${asset}`).join(', ');
}

/** A field of a JSON object where it is text or a number. */
export function fieldOf(value: unknown, name: string): string {
  const found = isJson(value) ? value[name] : undefined;
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Pairs whose values are JSON where they read as such, else text. */
export function jsonPairs(texts: readonly string[], option: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(pairs(texts, option)).map(([key, value]) => [key, jsonOrText(value)]),
  );
}

/** Amounts stay text: a number would lose digits. */
function jsonOrText(value: string): unknown {
  if (!/^(\{|\[|true$|false$|null$)/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** The JSON object in a file, or on standard input for `-`. */
export async function jsonFile(io: Io, file: string): Promise<Json> {
  const value = parsedJson(await textFile(io, file), file);
  if (!isJson(value)) throw usageError(`${file} must hold a JSON object.`);
  return value;
}

/** The text of a file, or of standard input for `-`. */
export async function textFile(io: Io, file: string): Promise<string> {
  if (file === '-') return io.read();
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** @throws CommandError that says where the text stops being JSON. */
export function parsedJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usageError(`${name} is not JSON: ${reasonOf(error)}`, { cause: error });
  }
}

/** `key@version`, or a key alone. */
export function templateRef(text: string): { readonly key: string; readonly version?: number } {
  const match = /^(.+)@(\d{1,9})$/.exec(text);
  return match === null ? { key: text } : { key: match[1] ?? '', version: Number(match[2]) };
}

/** What was looked at is wrong, or has ended badly: exit status 1. */
export function failure(message: string): CommandError {
  return new CommandError(EXIT.failure, message);
}
