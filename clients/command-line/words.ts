/** Formats API values for people, and parses values that people type. */
import { readFileSync } from 'node:fs';
import { describeLosses } from '../../domain/json-text.ts';
import { EXIT, CommandError, usageError } from './exit.ts';
import type { Io } from './io.ts';
import { pairs } from './options.ts';
import { reasonOf } from './profiles.ts';

export { age, duration, timeOfDay, when } from './times.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Most places in one error. */
const MOST_LOSSES = 5;

/** Formats the maximum amounts that can move: `250.5 USDC`; `UNBOUNDED` for a null amount. */
export function moneyOf(
  entries: readonly { readonly asset: string; readonly amount: string | null }[] | null,
): string {
  if (entries === null) return '';
  if (entries.length === 0) return 'nothing';
  return entries.map(({ asset, amount }) => `${amount ?? 'UNBOUNDED'} ${asset}`).join(', ');
}

/** Returns a field of a JSON object as text; '' unless the field is text or a number. */
export function fieldOf(value: unknown, name: string): string {
  const found = isJson(value) ? value[name] : undefined;
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses `key=value` pairs. Values stay text, except JSON objects, lists, booleans and null. */
export function jsonPairs(texts: readonly string[], option: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(pairs(texts, option)).map(([key, value]) => [
      key,
      jsonOrText(value, `${option} ${key}`),
    ]),
  );
}

/** Returns parsed JSON, or the text. Numbers stay text: a JavaScript number would lose digits. */
function jsonOrText(value: string, name: string): unknown {
  if (!/^(\{|\[|true$|false$|null$)/.test(value)) return value;
  let read: unknown;
  try {
    read = JSON.parse(value);
  } catch {
    return value;
  }
  refuseLosses(value, name);
  return read;
}

/** Throws where `JSON.parse` kept less than the text has: the service would only see the rest. */
function refuseLosses(json: string, name: string): void {
  const losses = describeLosses(json, 'the value');
  if (losses.length > 0) throw usageError(`${name}: ${losses.slice(0, MOST_LOSSES).join('; ')}.`);
}

/** Reads a JSON object from a file, or from standard input for `-`. */
export async function jsonFile(io: Io, file: string): Promise<Json> {
  const value = parsedJson(await textFile(io, file), file);
  if (!isJson(value)) throw usageError(`${file} must hold a JSON object.`);
  return value;
}

/** Reads the text of a file, or of standard input for `-`. */
export async function textFile(io: Io, file: string): Promise<string> {
  if (file === '-') return io.read();
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Parses JSON.
 *
 * @throws CommandError with the place where the text is not valid JSON, or parsing changes it.
 */
export function parsedJson(text: string, name: string): unknown {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw usageError(`${name} is not JSON: ${reasonOf(error)}`, { cause: error });
  }
  refuseLosses(text, name);
  return read;
}

/** Parses `key@version`, or a key without a version. */
export function templateRef(text: string): { readonly key: string; readonly version?: number } {
  const match = /^(.+)@(\d{1,9})$/.exec(text);
  return match === null ? { key: text } : { key: match[1] ?? '', version: Number(match[2]) };
}

/** Returns an error with exit status 1: a check found a problem, or a movement failed. */
export function failure(message: string): CommandError {
  return new CommandError(EXIT.failure, message);
}
