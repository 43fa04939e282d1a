/** Ends agents' proposals that were not promoted before their deadline. */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { expireDue } from '../../store/proposals.ts';

/** Starts the loop. Many processes may run it: a proposal ends once, by the database's clock. */
export function startProposalExpirer({
  db,
  log,
  pauseMs,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly pauseMs: number;
}): Loop {
  return startLoop({
    name: 'proposal expirer',
    pauseMs,
    log,
    work: async () => {
      const ended = await expireDue(db);
      if (ended > 0) log.info({ proposals: ended }, 'proposals have expired');
    },
  });
}
