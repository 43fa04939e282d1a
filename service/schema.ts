/** Checks that the database has this build's schema before a process starts anything. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import { readBuild, schemaFault, stateAt } from '../prisma/migration-state.ts';
import { DatabaseAddressError } from '../prisma/servers.ts';
import { codeOf, connectionFault } from './database.ts';

const ASK_AGAIN_MS = 2_000;

/**
 * Throws with the missing or unknown migrations. Waits while the database does not answer, since an
 * unchecked database must not be used.
 */
export async function refuseOtherSchema(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  log: Logger,
): Promise<void> {
  const build = await readBuild();
  for (;;) {
    const fault = await stateAt(databaseUrl, build).then(schemaFault, (error: unknown) => {
      if (error instanceof DatabaseAddressError) throw error;
      log.warn({ reason: connectionFault(codeOf(error)) }, 'the start waits for the database');
      return undefined;
    });
    if (fault === null) return;
    if (fault !== undefined) throw new Error(fault);
    await sleep(ASK_AGAIN_MS);
  }
}
