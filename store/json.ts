/**
 * Rows as the rest of the service knows them: dates as ISO text, numbers of Postgres as decimal
 * strings.
 */
import type { JsonObject } from '../domain/json.ts';
import { compare } from '../domain/money.ts';

/** ISO 8601 UTC with milliseconds. */
export function iso(date: Date): string {
  return date.toISOString();
}

/** The same of a timestamp as Postgres writes it into JSON. */
export function isoOf(text: string): string {
  return new Date(text).toISOString();
}

/** {@link isoOf} of what may be null. */
export function isoOfOrNull(text: string | null): string | null {
  return text === null ? null : isoOf(text);
}

export function isoOrNull(date: Date | null): string | null {
  return date === null ? null : iso(date);
}

/** A `numeric` in plain notation without trailing zeros. */
export function decimal(value: { toFixed(): string }): string {
  return value.toFixed();
}

export function decimalOrNull(value: { toFixed(): string } | null): string | null {
  return value === null ? null : decimal(value);
}

/**
 * A jsonb column that holds an object; `{}` for SQL null. Its content was parsed when it was
 * written.
 */
export function object(value: unknown): JsonObject {
  return (value ?? {}) as JsonObject;
}

export function objectOrNull(value: unknown): JsonObject | null {
  return (value ?? null) as JsonObject | null;
}

/** A jsonb column whose shape was checked before it was written, as that shape. */
export function stored<T>(value: unknown): T {
  return value as T;
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*/g;

/**
 * Whether every number in the text of a jsonb column is what JavaScript reads from it: jsonb keeps
 * any number of digits.
 */
export function holdsDoubles(json: string): boolean {
  const numbers = (json.match(STRING_OR_NUMBER) ?? []).filter((token) => !token.startsWith('"'));
  return numbers.every((token) => {
    const read = Number(token);
    return Number.isFinite(read) && compare(token, String(read)) === 0;
  });
}
