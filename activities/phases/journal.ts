/**
 * What an executor may read about the transactions of its node, and which signatures it may
 * request.
 */
import type { SubmitJournal } from '../../domain/executor.ts';
import type { Database } from '../../prisma/client.ts';
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

/** Returns the journal of this attempt for a look that sends, signs and writes nothing. */
export function readingJournal(db: Database, row: PhaseRow): SubmitJournal {
  const owner = ownerOf(row);
  return {
    transactions: () => readTransactions(db, owner),
    displaced: () => wasDisplaced(db, owner),
    arrivals: {
      claimed: (source, references) => readClaimed(db, { source, references }, owner),
      waiting: (place) => readWaiting(db, place, owner),
    },
    held: () => Promise.resolve({ ends: false, needs_retry: true, why: 'this only looks' }),
    releaseNonce: () => Promise.resolve(false),
    accepted: () => Promise.resolve(),
  };
}

/** Returns the journal of this attempt: its transactions and claims, which the database stores. */
export function journalOf(deps: PhaseDependencies, row: PhaseRow): SubmitJournal {
  const owner = ownerOf(row);
  return {
    ...readingJournal(deps.db, row),
    releaseNonce: (transaction) =>
      releaseNonce(deps.db, { ...owner, epoch: row.epoch }, transaction),
    nextVersion: (version) => nextVersion(deps, row, version),
    laneRaise: ({ chain_id, from }) => readLaneRaise(deps.db, { chain_id, address: from }),
    held: ({ address, accepted, replaces = false }) => {
      const way = replaces ? 'replace' : 'repeat';
      return heldNow(deps, row, accepted ? `${way}_accepted` : `${way}_unaccepted`, address);
    },
    accepted: (tx_hash) => noteAccepted(deps.db, owner, tx_hash),
    ...(row.restored
      ? {
          unknownNonces: (account: Account, count: number) =>
            readUnknownNonces(deps.db, account, count),
        }
      : {}),
  };
}
