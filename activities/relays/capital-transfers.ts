/**
 * Wakes runs of capital transfers until each run has seen every change; starts missing runs again.
 */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import { claimTransfers } from '../../store/capital-transfers.ts';
import { createLateLog } from './late.ts';

const BATCH = 50;

/**
 * Starts the relay: wakes runs whose first wake-up was lost. It holds a lease, not a database
 * transaction, during the calls.
 */
export function startTransferRelay(options: {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'wake' | 'isRunning'>;
  readonly log: Logger;
  readonly sweepIdleSeconds: number;
  readonly pauseMs?: number;
}): Loop {
  const { db, temporal, log, sweepIdleSeconds, pauseMs = 500 } = options;
  const logLate = createLateLog(log);
  const revive = async (transferId: string, unseen: boolean): Promise<void> => {
    if (!unseen && (await temporal.isRunning({ transferId }))) return;
    if (!unseen)
      log.warn(
        { transfer_id: transferId },
        'the run of an open capital transfer is gone; it is started again',
      );
    await temporal.wake({ transferId, kind: 'wake', commandId: null });
  };
  return startLoop({
    name: 'transfer relay',
    pauseMs,
    log,
    work: async () => {
      const due = await claimTransfers(db, { idleSeconds: sweepIdleSeconds, limit: BATCH });
      const late = due.find((each) => each.late);
      if (late !== undefined) logLate({ transfer_id: late.transfer_id });
      await Promise.all(
        due.map(({ transfer_id, unseen }) =>
          revive(transfer_id, unseen).catch((error: unknown) => {
            log.warn(
              { err: error, transfer_id },
              'the run of a capital transfer could not be woken; it is tried again',
            );
          }),
        ),
      );
      return due.length === BATCH;
    },
  });
}
