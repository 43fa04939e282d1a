/**
 * Pools as the contract has them (decisions 6): what movements hold in each, what was sent since
 * its last fetch, and what that leaves. It imports no rule of the product.
 */
import { add, compare, subtract, total } from '../support/amounts.ts';
import {
  drawing,
  holdsOf,
  poolName,
  poolOf,
  sentBy,
  type PoolKey,
  type Seen,
} from '../support/movement-model.ts';

/** Why holds are refused, as the store says it. */
export interface Uncovered extends PoolKey {
  readonly amount: string;
  /** Null: the snapshot is too old to tell. */
  readonly effective_withdrawable: string | null;
}

interface Balance {
  readonly withdrawable: string | null;
  readonly stale: boolean;
}

const keyOf = (pool: string): PoolKey => {
  const [venue_key = '', account_type = '', asset = ''] = pool.split(' ');
  return { venue_key, account_type, asset };
};

export class HoldsModel {
  readonly #held = new Map<string, ReadonlyMap<string, string>>();
  readonly #balances = new Map<string, Balance>();
  readonly #noted = new Set<string>();
  /** What was sent since the last fetch. */
  #sent: { readonly pool: string; readonly amount: string }[] = [];

  /** A fetch shows all that was sent before it. */
  refresh(venue: string, withdrawable: Readonly<Record<string, string | null>>): void {
    this.#sent = this.#sent.filter(({ pool }) => keyOf(pool).venue_key !== venue);
    for (const [account_type, amount] of Object.entries(withdrawable))
      this.#balances.set(poolName({ venue_key: venue, account_type, asset: 'USDC' }), {
        withdrawable: amount,
        stale: false,
      });
  }

  age(venue: string): void {
    for (const [pool, balance] of this.#balances)
      if (keyOf(pool).venue_key === venue) this.#balances.set(pool, { ...balance, stale: true });
  }

  /** Takes note of where an approved movement is now. */
  see(movement: Seen): void {
    this.#held.set(movement.movement_id, holdsOf(movement));
    for (const { node, seen } of drawing(movement)) {
      const [name, pool] = [`${movement.movement_id} ${node.node_key}`, poolOf(node)];
      if (seen.state !== 'COMPLETED' || pool === null || this.#noted.has(name)) continue;
      this.#noted.add(name);
      this.#sent.push({ pool, amount: sentBy(seen, node, movement.plan) });
    }
  }

  /** What is held in a pool. */
  held(pool: string): string {
    return total([...this.#held.values()].map((holds) => holds.get(pool) ?? '0'));
  }

  /** What is held, and what was sent since the last fetch. */
  pending(pool: string): string {
    return add(this.held(pool), this.#sentSince(pool));
  }

  #sentSince(pool: string): string {
    return total(this.#sent.flatMap((each) => (each.pool === pool ? [each.amount] : [])));
  }

  /**
   * The first pool, in the order of their keys, of which a movement that comes to be like this
   * takes more than there is.
   */
  uncovered(after: Seen): Uncovered | null {
    const before = this.#held.get(after.movement_id);
    for (const [pool, wanted] of holdsOf(after)) {
      const more = subtract(wanted, before?.get(pool) ?? '0');
      if (compare(more, '0') <= 0) continue;
      const balance = this.#balances.get(pool);
      const shortage = { ...keyOf(pool), amount: more };
      if (balance?.stale ?? true) return { ...shortage, effective_withdrawable: null };
      const withdrawable = balance?.withdrawable ?? null;
      if (withdrawable === null) continue;
      const effective_withdrawable = subtract(withdrawable, this.pending(pool));
      if (compare(more, effective_withdrawable) > 0) return { ...shortage, effective_withdrawable };
    }
    return null;
  }
}
