/** Holds as the contract has them: what is open in which pool, what has ended since its snapshot, and what that leaves. */
import { holdsOf } from '../../domain/actions/holds.ts';
import { spendsOrMaySpend } from '../../domain/actions/cancel.ts';
import { add, compare, subtract } from '../../domain/money.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import { isSettled } from '../../domain/states/node.ts';
import type { ReservationStatus } from '../../domain/states/movement.ts';
import type { Hold } from '../../domain/transition.ts';

/** Why holds are refused, as the store says it. */
export interface Uncovered extends Hold {
  /** Null: the snapshot is too old to tell. */
  readonly effective_withdrawable: string | null;
}

interface Balance {
  readonly withdrawable: string | null;
  readonly stale: boolean;
}

export const poolOf = ({ venue_key, account_type, asset }: Omit<Hold, 'amount'>): string => `${venue_key} ${account_type} ${asset}`;
const total = (amounts: readonly string[]): string => amounts.reduce(add, '0');

export class HoldsModel {
  readonly status = new Map<string, ReservationStatus>();
  readonly #open = new Map<string, readonly Hold[]>();
  readonly #fenced = new Set<string>();
  readonly #balances = new Map<string, Balance>();
  #ended: { readonly id: string; readonly hold: Hold }[] = [];

  /** A fetch shows all that ended before it. */
  refresh(venue: string, withdrawable: Readonly<Record<string, string | null>>): void {
    this.#ended = this.#ended.filter(({ hold }) => hold.venue_key !== venue);
    for (const [account_type, amount] of Object.entries(withdrawable))
      this.#balances.set(poolOf({ venue_key: venue, account_type, asset: 'USDC' }), { withdrawable: amount, stale: false });
  }

  age(venue: string): void {
    for (const [pool, balance] of this.#balances) if (pool.startsWith(`${venue} `)) this.#balances.set(pool, { ...balance, stale: true });
  }

  fence(id: string): void {
    this.#fenced.add(id);
  }

  /** What is held in a pool. */
  held(pool: string): string {
    return total([...this.#open.values()].flat().flatMap((hold) => (poolOf(hold) === pool ? [hold.amount] : [])));
  }

  /** What is held, and what ended since the last fetch and may have been sent. */
  pending(pool: string): string {
    const gone = this.#ended.filter(({ id, hold }) => poolOf(hold) === pool && this.#fenced.has(id)).map(({ hold }) => hold.amount);
    return add(this.held(pool), total(gone));
  }

  /** Null where the venue does not tell. */
  effective(pool: string): string | null {
    const withdrawable = this.#balances.get(pool)?.withdrawable ?? null;
    return withdrawable === null ? null : subtract(withdrawable, this.pending(pool));
  }

  /** The first hold that is not covered, in the order of the pools' keys. */
  uncovered(snapshot: Pick<MovementSnapshot, 'plan' | 'nodes'>): Uncovered | null {
    const inOrder = [...holdsOf(snapshot)].sort((a, b) => (poolOf(a) < poolOf(b) ? -1 : 1));
    for (const hold of inOrder) {
      if (this.#balances.get(poolOf(hold))?.stale ?? true) return { ...hold, effective_withdrawable: null };
      const effective_withdrawable = this.effective(poolOf(hold));
      if (effective_withdrawable !== null && compare(hold.amount, effective_withdrawable) > 0) return { ...hold, effective_withdrawable };
    }
    return null;
  }

  take(snapshot: Pick<MovementSnapshot, 'movement_id' | 'plan' | 'nodes'>): void {
    this.#open.set(snapshot.movement_id, holdsOf(snapshot));
    this.status.set(snapshot.movement_id, 'held');
  }

  end(id: string, status: 'consumed' | 'released'): void {
    for (const hold of this.#open.get(id) ?? []) this.#ended.push({ id, hold });
    this.#open.delete(id);
    this.status.set(id, status);
  }

  /** How a movement's hold ends where its run has come to; null while it goes on. */
  endOf(snapshot: MovementSnapshot): 'consumed' | 'released' | null {
    if (this.status.get(snapshot.movement_id) !== 'held') return null;
    if (snapshot.state === 'COMPLETED') return 'consumed';
    if (snapshot.state === 'FAILED') return 'released';
    const over = snapshot.state === 'CANCELLED' && snapshot.nodes.every(({ state }) => isSettled(state));
    return over && !spendsOrMaySpend(snapshot) ? 'released' : null;
  }
}
