/** Bybit's lists: windows, filters, pages and cursors (docs/bybit-facts.md, 9). */
import type { RouteContext } from '../format.ts';
import { Refusal } from '../refusal.ts';

const DAY = 86_400_000;
/** Most rows on a page. */
export const PAGE = 50;

/** A record as a list shows it. */
export interface Listed {
  readonly row: object;
  /** As the row shows it, in milliseconds since 1970. */
  readonly time: number;
  /** What the parameters of the same names are compared with. */
  readonly by: Readonly<Record<string, string>>;
}

interface Page {
  readonly rows: readonly object[];
  readonly nextPageCursor: string;
}

/**
 * One page of the records, the newest first. `records` are the oldest first, and only grow. A
 * window is shorter than `days`, also by default; null: the list has no windows. Throws a Refusal.
 */
export function pageOf(
  context: RouteContext,
  records: readonly Listed[],
  { days, usual = PAGE }: { readonly days: number | null; readonly usual?: number },
): Page {
  const [from, to] = windowOf(context, days);
  const { parameters } = context;
  const limit = whole(context, 'limit') ?? usual;
  if (limit < 1 || limit > PAGE) throw new Refusal('parameter_invalid', 'limit');
  const shown = oldestShown(parameters.get('cursor') ?? '');
  const found = records
    .map((each, index) => ({ ...each, id: index + 1 }))
    // No filter lifts the window.
    .filter(({ time }) => time >= from && time <= to)
    .filter(({ by }) =>
      Object.entries(by).every(([name, value]) => (parameters.get(name) ?? value) === value),
    )
    .filter(({ id }) => id < shown)
    .reverse()
    .slice(0, limit);
  return { rows: found.map(({ row }) => row), nextPageCursor: cursorOf(found) };
}

/** The last page has a cursor too; only an empty one has none. */
function cursorOf(found: readonly { readonly id: number }[]): string {
  const [newest, oldest] = [found[0], found.at(-1)];
  if (newest === undefined || oldest === undefined) return '';
  const ids = JSON.stringify({ minID: oldest.id, maxID: newest.id });
  return Buffer.from(ids).toString('base64');
}

/** The id of the oldest row of the cursor's page. The cursor has to come as it was sent. */
function oldestShown(cursor: string): number {
  if (cursor === '') return Infinity;
  const text = Buffer.from(cursor, 'base64').toString();
  const [, minID] = /^\{"minID":([0-9]+),"maxID":[0-9]+\}$/.exec(text) ?? [];
  if (minID === undefined || Buffer.from(text).toString('base64') !== cursor)
    throw new Refusal('parameter_invalid', 'cursor');
  return Number(minID);
}

function windowOf(context: RouteContext, days: number | null): readonly [from: number, to: number] {
  if (days === null) return [0, Infinity];
  const to = whole(context, 'endTime') ?? context.books.now();
  const from = whole(context, 'startTime') ?? to - days * DAY + 1;
  if (from > to || to - from >= days * DAY)
    throw new Refusal('parameter_invalid', 'the interval between the startTime and endTime');
  return [from, to];
}

/** A whole number; null: it was not sent. */
function whole({ parameters }: RouteContext, name: string): number | null {
  const text = parameters.get(name);
  if (text === null) return null;
  if (!/^[0-9]{1,15}$/.test(text)) throw new Refusal('parameter_invalid', name);
  return Number(text);
}
