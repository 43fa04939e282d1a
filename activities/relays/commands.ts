/** Wakes the runs of movements until every command is applied. */
import type { Logger } from 'pino';
import { settleEach } from '../../platform/at-once.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import { continueTrace } from '../../platform/tracing.ts';
import type { Database } from '../../prisma/client.ts';
import { claimCommands, noteTaken } from '../../store/commands.ts';
import { createLateLog, LATE_SECONDS } from './late.ts';

const BATCH = 50;
/** Calls to Temporal that are under way at the same time. */
const AT_ONCE = 16;

export interface CommandRelayOptions {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'wake'>;
  readonly log: Logger;
  readonly pauseMs?: number;
}

/**
 * Starts the relay: delivers commands whose first hand-over to Temporal was lost. It holds a lease,
 * not a database transaction, during the calls.
 */
export function startCommandRelay(options: CommandRelayOptions): Loop {
  const { db, temporal, log, pauseMs = 500 } = options;
  const logLate = createLateLog(log);
  return startLoop({
    name: 'command relay',
    pauseMs,
    log,
    work: async () => {
      const due = await claimCommands(db, BATCH);
      if (due.length === 0) return false;
      const { movement_id, command_id, kind, waited_seconds } = due.reduce((oldest, each) =>
        each.waited_seconds > oldest.waited_seconds ? each : oldest,
      );
      if (waited_seconds > LATE_SECONDS) logLate({ movement_id, command_id, kind, waited_seconds });
      const outcomes = await settleEach(due, AT_ONCE, (command) =>
        continueTrace(command.trace_parent, () =>
          temporal.wake({
            movementId: command.movement_id,
            kind: command.kind,
            commandId: command.command_id,
            about: command,
          }),
        ).catch((error: unknown) => {
          log.warn(
            { err: error, movement_id: command.movement_id },
            'a command could not be handed over and is tried again',
          );
          throw error;
        }),
      );
      const taken = due.filter((_, index) => outcomes[index]?.status === 'fulfilled');
      if (taken.length > 0)
        await noteTaken(
          db,
          taken.map(({ command_id }) => command_id),
        );
      return due.length === BATCH;
    },
  });
}
