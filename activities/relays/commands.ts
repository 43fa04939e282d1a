/** Wakes runs until every command is applied, and revives movements whose run is gone. */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import { claimCommands, claimIdle } from '../../store/commands.ts';

const BATCH = 50;

export interface CommandRelayOptions {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'wake' | 'isRunning'>;
  readonly log: Logger;
  readonly sweepIdleSeconds: number;
  readonly pauseMs?: number;
}

/** Delivers what the hand-over lost. A lease, not a transaction, is held during the calls. */
export function startCommandRelay(options: CommandRelayOptions): Loop {
  const { db, temporal, log } = options;
  return startLoop({
    name: 'command relay',
    pauseMs: options.pauseMs ?? 500,
    log,
    work: async () => {
      const due = await claimCommands(db, BATCH);
      await Promise.allSettled(
        due.map((command) =>
          temporal
            .wake({
              movementId: command.movement_id,
              kind: command.kind,
              commandId: command.command_id,
              about: command,
            })
            .catch((error: unknown) => {
              log.warn(
                { err: error, movement_id: command.movement_id },
                'a command could not be handed over and is tried again',
              );
            }),
        ),
      );
      return due.length === BATCH;
    },
  });
}

/**
 * Compares open movements without progress with the server's own view; only a missing run is a
 * reason to wake.
 */
export function startSweeper(options: CommandRelayOptions): Loop {
  const { db, temporal, log, sweepIdleSeconds } = options;
  return startLoop({
    name: 'sweeper',
    pauseMs: Math.max(250, (sweepIdleSeconds * 1000) / 4),
    log,
    work: async () => {
      const idle = await claimIdle(db, { idleSeconds: sweepIdleSeconds, limit: BATCH });
      for (const about of idle) {
        const { movement_id: movementId } = about;
        if (await temporal.isRunning({ movementId })) continue;
        log.warn(
          { movement_id: movementId },
          'the run of an open movement is gone; it is begun again',
        );
        await temporal.wake({ movementId, kind: 'wake', commandId: null, about });
      }
      return idle.length === BATCH;
    },
  });
}
