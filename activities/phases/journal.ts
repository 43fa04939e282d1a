/**
 * What an executor may read about the transactions of its node, and which signatures it may
 * request.
 */
import type { SubmitJournal } from '../../domain/executor.ts';
import { readClaimed, readWaiting } from '../../store/claims.ts';
import {
  readTransactions,
  readUnknownNonces,
  releaseNonce,
  wasDisplaced,
  type Account,
} from '../../store/evm-transactions.ts';
import { readLaneRaise } from '../../store/lanes.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { noteAccepted } from '../../store/stops.ts';
import { ownerOf, type PhaseDependencies } from './context.ts';
import { nextVersion } from './next-version.ts';
import { heldNow } from './stops.ts';

/** Returns the journal of this attempt: its transactions and claims, which the database stores. */
export function journalOf(deps: PhaseDependencies, row: PhaseRow): SubmitJournal {
  const owner = ownerOf(row);
  return {
    transactions: () => readTransactions(deps.db, owner),
    releaseNonce: (transaction) =>
      releaseNonce(deps.db, { ...owner, epoch: row.epoch }, transaction),
    displaced: () => wasDisplaced(deps.db, owner),
    nextVersion: (version) => nextVersion(deps, row, version),
    laneRaise: ({ chain_id, from }) => readLaneRaise(deps.db, { chain_id, address: from }),
    held: ({ address, accepted, replaces = false }) => {
      const way = replaces ? 'replace' : 'repeat';
      return heldNow(deps, row, accepted ? `${way}_accepted` : `${way}_unaccepted`, address);
    },
    accepted: (tx_hash) => noteAccepted(deps.db, owner, tx_hash),
    arrivals: {
      claimed: (source, references) => readClaimed(deps.db, { source, references }, owner),
      waiting: (place) => readWaiting(deps.db, place, owner),
    },
    ...(row.restored
      ? {
          unknownNonces: (account: Account, count: number) =>
            readUnknownNonces(deps.db, account, count),
        }
      : {}),
  };
}
