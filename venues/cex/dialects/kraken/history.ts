/**
 * Reads Kraken's histories of withdrawals and deposits completely. Sources differ on the size of a
 * page, on its names and on the last cursor (docs/kraken-facts.md, 7, 17 and 18), so no size is
 * relied on: a history ends with a page that is smaller than any known size, or that is empty.
 */
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import { ask, type Schema } from '../../answers.ts';
import type { CexConnection, Parameters } from '../../connection.ts';
import type { Period } from '../../dialect.ts';
import { CEX_FAULTS } from '../../errors.ts';
import { windows } from '../../windows.ts';
import type { Page } from './answers.ts';

const DAY = 86_400_000;
/** Kraken names no longest period. It documented once that it keeps 90 days (7). */
export const KEPT = { longest: Number.POSITIVE_INFINITY, keeps: 90 * DAY };
/** The largest page that no source excludes. */
const LIMIT = 50;
/** The smallest size of a page in any source: a smaller page is the last one. */
const SMALLEST_PAGE = 25;

interface Listed {
  readonly refid: string;
  /** ISO 8601. */
  readonly time: string;
}

interface History<T> {
  readonly method: string;
  readonly filter: Parameters;
  readonly schema: Schema<Page<T>>;
  readonly period: Period;
}

/**
 * Returns every record of the period, each once; a few of them may be a second outside of it.
 *
 * @throws ExecutorFault `HISTORY_TOO_OLD` when the period starts before Kraken's history,
 *   `protocol` when its pages do not show that nothing is missing.
 */
export async function readAll<T extends Listed>(
  connection: CexConnection,
  { method, filter, schema, period }: History<T>,
  call: CallOptions,
): Promise<readonly T[]> {
  windows(period, KEPT, Date.now());
  const found = new Map<string, T>();
  const start = String(Math.floor(period.from / 1_000));
  let end = String(Math.ceil(period.to / 1_000));
  let cursor: string | true = true;
  for (;;) {
    const parameters: Parameters = { ...filter, start, end, cursor, limit: LIMIT };
    const page: Page<T> = await ask(connection, method, parameters, call, schema);
    const { records, next } = page;
    const known = found.size;
    for (const record of records) found.set(record.refid, record);
    if (records.length === 0 || (next === null && records.length < SMALLEST_PAGE))
      return [...found.values()];
    if (found.size === known) throw incomplete('returned a page of its history twice');
    if (next === null) end = oldestOf(records);
    cursor = next ?? true;
  }
}

/**
 * Returns the time of the last record, in seconds, from which the history continues without a
 * cursor. Both ends of a period belong to it.
 *
 * @throws ExecutorFault if the records are not the newest first, as documented.
 */
function oldestOf(records: readonly Listed[]): string {
  const times = records.map(({ time }) => Date.parse(time));
  const isSorted = times.every((each, index) => index === 0 || each <= (times[index - 1] ?? each));
  if (!isSorted) throw incomplete('does not order its history as documented');
  return String((times.at(-1) ?? 0) / 1_000);
}

function incomplete(what: string): ExecutorFault {
  return new ExecutorFault(
    'protocol',
    CEX_FAULTS.protocol,
    `the exchange ${what}, so a part may be missing`,
  );
}
