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
  /** How far other clocks are from this host; none is measured when left out. */
  readonly clocks?: { readonly differences: Differences };
  /** How long a provider may take to confirm before a person has to decide. */
  readonly pendingSeconds: number;
  /** Fetches balances in the background: an ended transfer has changed those of both venues. */
  readonly refreshBalances: (venueKey: string) => void;
}

/** Applies the step, and fetches the balances of both venues when the step ended the transfer. */
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

/** Pause of a transfer that waits for clocks. */
export const CLOCK_PAUSE_SECONDS = 5;

/** Which clock stops the transfer from being sent; null where none does. */
export function clocksApart(deps: TransferDependencies, row: TransferRow): string | null {
  return clockProblem(deps.clocks?.differences ?? new Map(), [
    row.source_venue,
    row.destination_venue,
  ]);
}

/** The transfer as its provider knows it. */
export function orderOf(row: TransferRow): TransferOrder {
  return {
    reference: row.transfer_id,
    source: { venue_key: row.source_venue, account_type: row.source_account_type },
    destination: { venue_key: row.destination_venue, account_type: row.destination_account_type },
    asset: row.asset,
    amount: row.amount,
    created_at: row.created_at,
    ...(row.provider_transfer_id === null
      ? {}
      : { provider_transfer_id: row.provider_transfer_id }),
  };
}
