/**
 * Reads Coinbase's lists completely. A page may hold fewer records than its limit without being the
 * last one, and newer answers do not say which page that is (docs/coinbase-facts.md, 10).
 */
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import { ask, type Schema } from '../../answers.ts';
import type { CexConnection, Parameters } from '../../connection.ts';
import { CEX_FAULTS } from '../../errors.ts';
import * as answers from './answers.ts';

/** The largest that Coinbase permits. */
const LIMIT = 100;

interface List<T> {
  readonly method: string;
  readonly parameters: Parameters;
  readonly record: Schema<T>;
  /** Returns whether nothing after this page belongs to the result; absent: every page does. */
  readonly isEnd?: (records: readonly T[]) => boolean;
}

/**
 * Returns the records of all pages, each once.
 *
 * @throws ExecutorFault `protocol` if Coinbase returns a page twice.
 */
export async function readAll<T extends { readonly id: string }>(
  connection: CexConnection,
  { method, parameters, record, isEnd = () => false }: List<T>,
  call: CallOptions,
): Promise<readonly T[]> {
  const schema = answers.pageOf(record);
  const found = new Map<string, T>();
  const cursors = new Set<string>();
  let starting_after: string | undefined;
  for (;;) {
    const filter = { ...parameters, limit: LIMIT, starting_after };
    const page: answers.Page<T> = await ask(connection, method, filter, call, schema);
    for (const each of page.records) found.set(each.id, each);
    // A page that does not say what follows is followed by another one, unless it is empty.
    const next = page.next === undefined ? page.records.at(-1)?.id : page.next;
    if (next == null || isEnd(page.records)) return [...found.values()];
    if (cursors.has(next))
      throw new ExecutorFault(
        'protocol',
        CEX_FAULTS.protocol,
        'the exchange returned a page of its list twice',
      );
    cursors.add(next);
    starting_after = next;
  }
}
