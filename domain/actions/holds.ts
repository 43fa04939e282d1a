/** How much of which pool a movement holds back while it may still spend it. */
import { parseAmountSource, resolveAmount } from '../plan/amount.ts';
import { add } from '../money.ts';
import type { MovementSnapshot, NodeSnapshot } from '../snapshot.ts';
import type { Hold } from '../transition.ts';

/**
 * Per (venue, account type, asset), the sum over the side-effect nodes that are not completed, name a
 * venue, and whose amount is known now; an amount fed by another node's output is not held twice.
 */
export function holdsOf(snapshot: {
  readonly plan: MovementSnapshot['plan'];
  readonly nodes: readonly Pick<NodeSnapshot, 'node_key' | 'state'>[];
}): readonly Hold[] {
  const completed = new Set(snapshot.nodes.filter((node) => node.state === 'COMPLETED').map((node) => node.node_key));
  const holds = new Map<string, Hold>();
  for (const node of snapshot.plan.nodes) {
    const venue = node.config['venue'];
    if (!node.has_side_effect || typeof venue !== 'string' || completed.has(node.node_key)) continue;
    if (parseAmountSource(node.config).kind === 'node') continue;
    const amount = resolveAmount(node.config, snapshot.plan.intent.amount, () => null);
    if (amount === null || amount === '0') continue;
    const account_type = text(node.config['account_type'], 'SPOT').toUpperCase();
    const asset = text(node.config['asset'], snapshot.plan.intent.asset).toUpperCase();
    const key = JSON.stringify([venue, account_type, asset]);
    const before = holds.get(key)?.amount ?? '0';
    holds.set(key, { venue_key: venue, account_type, asset, amount: add(before, amount) });
  }
  return [...holds.values()];
}

function text(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
