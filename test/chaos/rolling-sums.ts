/** What a desk should have paid by what callers were answered, held against its own books. */
import type { Payment } from '../support/slow-desk.ts';

/** A movement whose approval was answered, and the nodes that pay its amount. */
export interface Accepted {
  readonly movement_id: string;
  readonly amount: string;
  readonly nodes: readonly string[];
}

/** Each node paid once, in its amount, by a caller that waited for the answer; and nothing else. */
export function rollingContradictions(
  accepted: readonly Accepted[],
  payments: readonly Payment[],
): readonly string[] {
  const found: string[] = [];
  const due = new Map(
    accepted.flatMap(({ movement_id, amount, nodes }) =>
      nodes.map((node_key): [string, string] => [`${movement_id} ${node_key}`, amount]),
    ),
  );
  const paid = new Map<string, number>();
  for (const { movement_id, node_key, amount, answered } of payments) {
    const name = `${movement_id} ${node_key}`;
    paid.set(name, (paid.get(name) ?? 0) + 1);
    const expected = due.get(name);
    if (expected === undefined) found.push(`${name} was paid, and its approval was not answered`);
    else if (expected !== amount) found.push(`${name} was paid ${amount}, not ${expected}`);
    if (!answered) found.push(`${name} was sent by a caller that did not wait`);
  }
  for (const [name, times] of paid)
    if (times > 1) found.push(`${name} was paid ${String(times)} times`);
  for (const name of due.keys()) if (!paid.has(name)) found.push(`${name} was never paid`);
  return found;
}
