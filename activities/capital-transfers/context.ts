/** The dependencies of the activities of a capital transfer. */
import type { Logger } from 'pino';
import type { TransferOrder, TransferProvider } from '../../domain/capital-transfers/provider.ts';
import type { TransferRow, TransferStep } from '../../domain/capital-transfers/step.ts';
import { clockProblem, type Differences } from '../../domain/send/clocks.ts';
import type { Database } from '../../prisma/client.ts';
import type { Unhurried } from '../failures.ts';
import type { Leaves } from '../leaving.ts';
import { applyTransferStep, type StepOutcome } from '../../store/capital-transfer-steps.ts';

export interface TransferDependencies extends Unhurried, Leaves {
  readonly db: Database;
  readonly log: Logger;
  readonly providers: readonly TransferProvider[];
  /**
   * Differences between the clocks of database and venues and this host's clock; when left out,
   * clocks are not compared.
   */
  readonly clocks?: { readonly differences: Differences };
  /**
   * Seconds that a provider may take to confirm before a person has to decide, and within which a
   * transfer must have been sent for the first time.
   */
  readonly pendingSeconds: number;
  /** Fetches a venue's balances in the background; called when a transfer has changed them. */
  readonly refreshBalances: (venueKey: string) => void;
}

/** Writes the step, and fetches the balances of both venues when the step ended the transfer. */
export async function applyStep(
  deps: TransferDependencies,
  step: TransferStep,
): Promise<StepOutcome> {
  const outcome = await applyTransferStep(deps.db, step);
  if (outcome.ok && outcome.row?.ended === true) {
    for (const venue of new Set([outcome.row.source_venue, outcome.row.destination_venue]))
      deps.refreshBalances(venue);
  }
  return outcome;
}

/** Seconds before a transfer is tried again while the database's or a venue's clock is wrong. */
export const CLOCK_PAUSE_SECONDS = 5;

/** Returns which clock is too far off for the transfer to be sent; null when none is. */
export function clocksApart(deps: TransferDependencies, row: TransferRow): string | null {
  return clockProblem(deps.clocks?.differences ?? new Map(), [
    row.source_venue,
    row.destination_venue,
  ]);
}

/** Maps the transfer's row to the order that its provider gets. */
export function orderOf(row: TransferRow): TransferOrder {
  return {
    reference: row.transfer_id,
    source: { venue_key: row.source_venue, account_type: row.source_account_type },
    destination: { venue_key: row.destination_venue, account_type: row.destination_account_type },
    asset: row.asset,
    amount: row.amount,
    created_at: row.created_at,
    ...(row.venue_entries === null ? {} : { venue_entries: row.venue_entries }),
    ...(row.provider_transfer_id === null
      ? {}
      : { provider_transfer_id: row.provider_transfer_id }),
  };
}
