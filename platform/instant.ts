/** Schemas of times that callers and operators write. */
import { z } from 'zod';

/** Between them an ISO text has a year of four digits, and columns have no year 0. */
const [FIRST_MS, LAST_MS] = [
  Date.parse('0001-01-01T00:00:00.000Z'),
  Date.parse('9999-12-31T23:59:59.999Z'),
];

/**
 * Returns the milliseconds since 1970 of an ISO 8601 text, rounded up, since rows have whole
 * milliseconds; NaN for another text.
 */
export function instantMs(time: string): number {
  return Date.parse(time) + (/\.\d{3}\d*[1-9]/.test(time) ? 1 : 0);
}

function isInRange(time: string): boolean {
  const ms = instantMs(time);
  return Number.isNaN(ms) || (ms >= FIRST_MS && ms <= LAST_MS);
}

const RANGE = 'must be a time of the years 1 to 9999 in UTC';

/** A point in time: ISO 8601 with `Z` or an offset, of the years 1 to 9999 in UTC. */
export const instant = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with Z or an offset' })
  .refine(isInRange, RANGE);

/** A day, which stands for its beginning in UTC, or an {@link instant}. */
export const dayOrInstant = z.union([z.iso.date().refine(isInRange, RANGE), instant]);
