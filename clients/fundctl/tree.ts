/** Every command of `fundctl`. A new group is one line here and a file in commands/. */
import type { Entry } from '../command-line/command.ts';
import { config, selfCommands } from '../command-line/self.ts';
import { callbacks, cutover, keys } from './commands/administration.ts';
import { authorities, proposals } from './commands/agents.ts';
import { allowlist } from './commands/allowlist.ts';
import { approvals } from './commands/approvals.ts';
import { audit } from './commands/audit.ts';
import { bridges } from './commands/bridges.ts';
import { changes } from './commands/changes.ts';
import { executors, registry } from './commands/executors.ts';
import { balances, budgets, routes } from './commands/funds.ts';
import { movements } from './commands/movements.ts';
import { perps } from './commands/perps.ts';
import { policies } from './commands/policies.ts';
import { search } from './commands/search.ts';
import { signers } from './commands/signers.ts';
import { smoke } from './commands/smoke.ts';
import { templates } from './commands/templates.ts';
import { transfers } from './commands/transfers.ts';

export const PROGRAM = 'fundctl';

export const TREE: readonly Entry[] = [
  movements,
  templates,
  transfers,
  balances,
  routes,
  approvals,
  changes,
  policies,
  budgets,
  executors,
  signers,
  registry,
  bridges,
  perps,
  proposals,
  authorities,
  allowlist,
  cutover,
  callbacks,
  audit,
  search,
  keys,
  smoke,
  config,
  ...selfCommands(PROGRAM, () => TREE),
];
