/** Reads an exchange's history of a period completely: every window, and every page of a window. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { Period } from './dialect.ts';
import { CEX_FAULTS } from './errors.ts';
import { windows } from './windows.ts';

/** Most readings of one window's pages. Records rarely arrive during so many readings. */
const MOST_PASSES = 5;

interface Pages<T> {
  /** Number of records on a full page. */
  readonly size: number;
  readonly idOf: (record: T) => string;
  /** Reads one page; the first page is 0. */
  readonly read: (page: number) => Promise<readonly T[]>;
}

interface History<T> extends Omit<Pages<T>, 'read'> {
  /** Limits of the exchange, as in {@link windows}. */
  readonly limits: Parameters<typeof windows>[1];
  readonly read: (window: Period, page: number) => Promise<readonly T[]>;
}

/**
 * Returns every record of the period, each once.
 *
 * @throws ExecutorFault `HISTORY_TOO_OLD` when the period starts before the exchange's history,
 *   `HISTORY_CHANGING` when every reading found more.
 */
export async function readHistory<T>(
  period: Period,
  { limits, size, idOf, read }: History<T>,
): Promise<readonly T[]> {
  const found = new Map<string, T>();
  for (const window of windows(period, limits, Date.now())) {
    const records = await readPages({ size, idOf, read: (page) => read(window, page) });
    for (const record of records) found.set(idOf(record), record);
  }
  return [...found.values()];
}

/**
 * Returns the records of all pages, each once. A record that arrives between two pages may be on a
 * page that was read already, so several pages are read again until a reading finds nothing new.
 */
export async function readPages<T>(pages: Pages<T>): Promise<readonly T[]> {
  const found = new Map<string, T>();
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const known = found.size;
    const records = await readOnce(pages);
    for (const [id, record] of records) found.set(id, record);
    // A first page that is not full shows everything as of one moment.
    if (records.size < pages.size || found.size === known) return [...found.values()];
  }
  throw new ExecutorFault(
    'protocol',
    'HISTORY_CHANGING',
    `the exchange's history has grown during each of ${String(MOST_PASSES)} readings; try again, for a period that ends earlier`,
  );
}

async function readOnce<T>({ size, idOf, read }: Pages<T>): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (let page = 0; ; page += 1) {
    const known = found.size;
    const records = await read(page);
    for (const record of records) found.set(idOf(record), record);
    if (records.length < size) return found;
    if (found.size > known) continue;
    throw new ExecutorFault(
      'protocol',
      CEX_FAULTS.protocol,
      'the exchange returned a page of its history twice',
    );
  }
}
