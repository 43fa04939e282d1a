/** Budgets as the contract has them, for properties that compare them with the database's. */
import type { BudgetUsage } from '../../domain/auto-approve/budget.ts';
import { add } from '../../domain/money.ts';

interface ModelledReservation {
  readonly movement: string;
  readonly amount: string;
  status: 'reserved' | 'consumed' | 'released';
  hours: number;
}

/** What the contract says a budget is, over a list of reservations. */
export class BudgetModel {
  readonly reservations: ModelledReservation[] = [];
  readonly #hours: number;
  constructor(hours: number) {
    this.#hours = hours;
  }

  usage(): BudgetUsage {
    const inside = this.reservations.filter(({ hours, status }) => hours < this.#hours && status !== 'released');
    const sum = (status: string): string =>
      inside.filter((each) => each.status === status).reduce((total, each) => add(total, each.amount), '0');
    return { reserved_amount: sum('reserved'), consumed_amount: sum('consumed'), count_in_window: inside.length };
  }

  end(movement: string, status: 'consumed' | 'released'): void {
    for (const each of this.reservations) if (each.movement === movement && each.status === 'reserved') each.status = status;
  }
}
