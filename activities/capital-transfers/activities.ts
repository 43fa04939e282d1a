/** Builds the activities of a capital transfer from explicit dependencies. */
import type { CapitalTransferActivities } from '../../domain/messages.ts';
import { loadTransfer, wakeTransfer } from '../../store/capital-transfers.ts';
import { beating, named } from '../guarded.ts';
import { look } from './look.ts';
import { submit } from './submit.ts';
import type { TransferDependencies } from './context.ts';

/** Returns the activities. Each is safe to run again: it first reads what the database records. */
export function createTransferActivities(deps: TransferDependencies): CapitalTransferActivities {
  return {
    loadTransfer: async ({ transfer_id, run_id }) => {
      const row = await named(deps, () => loadTransfer(deps.db, transfer_id, run_id));
      if (row === null) return null;
      const { state, ended, epoch, asset, strategy_id, error_code } = row;
      const [source, destination] = [
        `${row.source_venue} ${row.source_account_type}`,
        `${row.destination_venue} ${row.destination_account_type}`,
      ];
      return {
        transfer_id,
        state,
        ended,
        epoch,
        asset,
        strategy_id,
        source,
        destination,
        error_code,
      };
    },
    leaveBuildOfTransfer: ({ transfer_id }) =>
      named(deps, () => wakeTransfer(deps.db, transfer_id)),
    submitTransfer: (args) => beating(deps, () => submit(deps, args)),
    lookTransfer: ({ transfer_id }) => beating(deps, () => look(deps, transfer_id)),
  };
}
