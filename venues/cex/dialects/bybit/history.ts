/**
 * Reads Bybit's lists completely (docs/bybit-facts.md, 9). Both ends of a window are always sent:
 * nothing shows that an id lifts the default window.
 */
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import { ask, type Schema } from '../../answers.ts';
import type { CexConnection, Parameters } from '../../connection.ts';
import type { Period } from '../../dialect.ts';
import { CEX_FAULTS } from '../../errors.ts';
import { windows } from '../../windows.ts';
import * as answers from './answers.ts';
import { DAY } from './names.ts';

/** No limit is documented; 90 days are a cautious one (9). */
export const KEEPS = 90 * DAY;
const PAGE = 50;
const SECOND = 1_000;
/** Longest windows: below 30 days, and 7 days for transfers. Seconds count (9). */
export const LONGEST = { records: 30 * DAY - 60_000, transfers: 7 * DAY - 60_000 };

export interface Pages<T> {
  readonly method: string;
  /** The name of the list in the answer. */
  readonly list: 'rows' | 'list';
  readonly record: Schema<T>;
  readonly idOf: (record: T) => string;
  readonly filter: Parameters;
}

export interface History<T> extends Pages<T> {
  /** The longest window, in milliseconds. */
  readonly longest: number;
}

/**
 * Returns every record of the period, each once; a few of them may be seconds outside of it.
 *
 * @throws ExecutorFault `HISTORY_TOO_OLD` when the period starts before what Bybit certainly keeps,
 *   else as {@link readPages}.
 */
export async function readAll<T>(
  connection: CexConnection,
  { longest, ...history }: History<T>,
  period: Period,
  call: CallOptions,
): Promise<readonly T[]> {
  const found = new Map<string, T>();
  for (const { from, to } of windows(period, { longest, keeps: KEEPS }, Date.now())) {
    // Whether the ends of a window belong to it is not documented, and times are whole seconds.
    const window = { startTime: from - SECOND, endTime: to + SECOND };
    const pages = { ...history, filter: { ...history.filter, ...window } };
    for (const record of await readPages(connection, pages, call))
      found.set(history.idOf(record), record);
  }
  return [...found.values()];
}

/**
 * Returns the records of all pages, each once. A page with records may have a cursor though it is
 * the last, so its size decides nothing.
 *
 * @throws ExecutorFault `protocol` when a page holds nothing new.
 */
export async function readPages<T>(
  connection: CexConnection,
  { method, list, record, idOf, filter }: Pages<T>,
  call: CallOptions,
): Promise<readonly T[]> {
  const found = new Map<string, T>();
  const schema = answers.pageOf(list, record);
  let cursor: string | undefined;
  for (;;) {
    const parameters: Parameters = { ...filter, limit: PAGE, cursor };
    const page: answers.Page<T> = await ask(connection, method, parameters, call, schema);
    const known = found.size;
    for (const each of page.records) found.set(idOf(each), each);
    if (page.records.length === 0 || page.next === null) return [...found.values()];
    if (found.size === known) {
      throw new ExecutorFault(
        'protocol',
        CEX_FAULTS.protocol,
        'the exchange returned a page of its list twice, so a part may be missing',
      );
    }
    cursor = page.next;
  }
}
