/** `fundadmin after-restore`: prepares a restored database for the service. */
import type { Command } from 'commander';
import { LONGEST_WINDOW_SECONDS } from '../../domain/send/window.ts';
import {
  AUTHORIZATION_SETTLE_SECONDS,
  LONGEST_AUTHORIZATION_SECONDS,
} from '../../domain/signing.ts';
import { afterRestore } from '../../store/restore.ts';
import { actorName } from '../acting.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, warnUnvouched, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

const LONGEST_REASON = 1_000;

interface Options extends DatabaseOption {
  readonly incident?: string;
  readonly reason?: string;
}

/** Adds `after-restore`, which runs between a restore and the start of the service. */
export function restoreCommands(program: Command, io: ToolIo): void {
  command(program, 'after-restore', 'narrows')
    .description(
      'After a restore or failover that may have lost commits: makes the service look up every open send at its venue before it may send again. ' +
        'No new movement or transfer is taken from then on: compare keys, allowlist and people with what you know, then set the cutover mode to normal. ' +
        'Run it once for each incident, before the service starts.',
    )
    .option(
      '--incident <name>',
      'the name of this restore: a repeat with the same name changes nothing (default: the time, so each run counts as a new restore)',
    )
    .option('--reason <text>', 'kept in the audit')
    .option(...DATABASE_OPTION)
    .action(async (options: Options) => {
      const { incident = `restore-${new Date().toISOString()}`, reason = null } = options;
      if (!/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(incident))
        throw new ToolError('--incident must be up to 128 of letters, digits and . _ : -', {
          exitCode: 2,
        });
      if (reason !== null && (reason.trim() === '' || reason.length > LONGEST_REASON))
        throw new ToolError(
          `--reason must say why, in up to ${String(LONGEST_REASON)} characters.`,
          { exitCode: 2 },
        );
      warnUnvouched(io, 'change');
      const entry = {
        action: 'database.after_restore',
        entity_type: 'database',
        entity_key: incident,
        outcome: 'success',
        reason,
      } as const;
      const why = `The database was restored (${incident}): compare keys, allowlist and people first`;
      const drained = {
        action: 'cutover.set_mode',
        entity_type: 'cutover_mode',
        entity_key: 'cutover_mode',
        outcome: 'success',
        reason: why,
        details: { mode: 'drain' },
      } as const;
      const result = await withDatabase(options, io, (db) =>
        afterRestore(db, {
          incident,
          send_seconds: LONGEST_WINDOW_SECONDS,
          signature_seconds: LONGEST_AUTHORIZATION_SECONDS + AUTHORIZATION_SETTLE_SECONDS,
          drain: {
            mode: 'drain',
            reason: why,
            changed_by: { client_id: actorName(io), key_id: null, role: null },
            audit: [drained],
          },
          audit: [entry],
        }),
      );
      io.out(`${JSON.stringify(result, null, 2)}\n`);
    });
}
