/** Ends the proposals of agents that nobody has promoted in their time. */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { expireProposals, readDueProposals } from '../../store/proposals.ts';

const MOST = 200;

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
      const due = await readDueProposals(db, MOST);
      if (due.length === 0) return false;
      const ended = await expireProposals(db, due);
      if (ended > 0) log.info({ proposals: ended }, 'proposals have expired');
      return due.length === MOST;
    },
  });
}
