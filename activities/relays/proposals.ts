/** Ends the proposals of agents that nobody has promoted in their time. */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { expireDue } from '../../store/proposals.ts';

/** Any number of processes may do this: a proposal ends once, by the database's clock. */
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
