/**
 * Budgets of policies as the contract has them (decisions 5). It imports no rule of the product.
 */
import { add, compare, subtract } from './amounts.ts';

interface Caps {
  readonly window_hours: number | null;
  readonly max_amount_per_window: string | null;
  readonly max_count_per_window: number | null;
}

interface Usage {
  readonly reserved_amount: string;
  readonly consumed_amount: string;
  readonly count_in_window: number;
}

interface Part {
  readonly movement: string;
  amount: string;
  status: 'reserved' | 'consumed' | 'released';
  hours: number;
}

/**
 * What the contract says a budget is: what each movement uses up of it, by the time at which it was
 * taken.
 */
export class BudgetModel {
  /** In the order in which they were taken. */
  #parts: Part[] = [];
  readonly #policy: Caps;
  constructor(policy: Caps) {
    this.#policy = policy;
  }

  #inside(): readonly Part[] {
    return this.#parts.filter(
      ({ hours, status }) => hours < (this.#policy.window_hours ?? 0) && status !== 'released',
    );
  }

  usage(): Usage {
    const inside = this.#inside();
    const sum = (status: string): string =>
      inside
        .filter((each) => each.status === status)
        .reduce((total, each) => add(total, each.amount), '0');
    return {
      reserved_amount: sum('reserved'),
      consumed_amount: sum('consumed'),
      count_in_window: new Set(inside.map(({ movement }) => movement)).size,
    };
  }

  #taken(movement: string): string {
    return this.#parts
      .filter((each) => each.movement === movement && each.status !== 'released')
      .reduce((sum, { amount }) => add(sum, amount), '0');
  }

  /** Why the movement may not use up so much, or null. What it has already is no question. */
  refusal(
    movement: string,
    due: string,
  ): 'window_amount_exceeded' | 'window_count_exceeded' | null {
    const more = subtract(due, this.#taken(movement));
    if (compare(more, '0') <= 0) return null;
    const inside = this.#inside();
    const { max_amount_per_window: most, max_count_per_window: often } = this.#policy;
    const sum = inside.reduce((all, { amount }) => add(all, amount), more);
    if (most !== null && compare(sum, most) > 0) return 'window_amount_exceeded';
    const others = new Set(inside.map((each) => each.movement).filter((each) => each !== movement))
      .size;
    return often !== null && others + 1 > often ? 'window_count_exceeded' : null;
  }

  /**
   * The movement uses up so much from now on: the latest of what it took is returned first, and
   * what is more is taken now. While it has `sent` something, in whatever asset, it counts.
   */
  settle(movement: string, due: string, over: boolean, sent = false): void {
    let left = due;
    let counts = sent;
    for (const part of this.#parts.filter(
      (each) => each.movement === movement && each.status !== 'released',
    )) {
      const kept = compare(part.amount, left) < 0 ? part.amount : left;
      left = subtract(left, kept);
      const stays = kept !== '0' || counts;
      counts = false;
      part.status = !stays ? 'released' : over ? 'consumed' : 'reserved';
      if (stays) part.amount = kept;
    }
    if (left !== '0' || counts)
      this.#parts.push({
        movement,
        amount: left,
        status: over ? 'consumed' : 'reserved',
        hours: 0,
      });
  }

  hour(): void {
    for (const part of this.#parts) part.hours += 1;
  }
}
