/** All tools of the server: these eight and no other. */
import type { Tool } from '../tool.ts';
import { getBalances } from './balances.ts';
import { getMovement, listMovements } from './movements.ts';
import { getProposal, proposeTemplate } from './proposals.ts';
import { listRoutes, recommendRoute } from './routes.ts';
import { whoami } from './whoami.ts';

export const TOOLS: readonly Tool[] = [
  whoami,
  listRoutes,
  recommendRoute,
  getBalances,
  listMovements,
  getMovement,
  proposeTemplate,
  getProposal,
];
