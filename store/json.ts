/**
 * Converts column values to the service's types: dates to ISO text, Postgres numbers to decimal
 * strings.
 */
import type { JsonObject } from '../domain/json.ts';

/** Returns ISO 8601 text in UTC with milliseconds. */
export function iso(date: Date): string {
  return date.toISOString();
}

/** Returns the same text for a timestamp that Postgres wrote into JSON. */
export function isoOf(text: string): string {
  return new Date(text).toISOString();
}

/** Returns {@link isoOf} of the text; null for null. */
export function isoOfOrNull(text: string | null): string | null {
  return text === null ? null : isoOf(text);
}

export function isoOrNull(date: Date | null): string | null {
  return date === null ? null : iso(date);
}

/** Returns a `numeric` in plain notation without trailing zeros. */
export function decimal(value: { toFixed(): string }): string {
  return value.toFixed();
}

export function decimalOrNull(value: { toFixed(): string } | null): string | null {
  return value === null ? null : decimal(value);
}

/**
 * Returns a jsonb column that holds an object; `{}` for SQL null. Its content was validated before
 * it was written.
 */
export function object(value: unknown): JsonObject {
  return (value ?? {}) as JsonObject;
}

export function objectOrNull(value: unknown): JsonObject | null {
  return (value ?? null) as JsonObject | null;
}

/** Returns a jsonb column as the type that was checked before it was written. */
export function stored<T>(value: unknown): T {
  return value as T;
}
