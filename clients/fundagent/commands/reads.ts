/** The commands `whoami`, `routes` and `balances`. */
import type { Group } from '../../command-line/command.ts';
import { amount, choice, flag, required, text } from '../../command-line/options.ts';
import { agentCommand } from '../command.ts';
import type { Session } from '../session.ts';
import { namedForApi, rowsOf, wordOf, wordsAt } from '../words.ts';

const AUTHORITY = wordsAt({
  key: 'key_id',
  role: 'role',
  namespace: 'namespace',
  'max notional': 'authority.max_notional',
  assets: 'authority.allowed_assets',
  chains: 'authority.allowed_chains',
  'max ttl seconds': 'authority.max_ttl_seconds',
});
const ROUTE = wordsAt({
  TEMPLATE: (row) => `${wordOf(row, 'template_key')}@${wordOf(row, 'version')}`,
  FAMILY: 'metadata.transport_family',
  FROM: 'metadata.source_venue',
  TO: 'metadata.destination_venue',
  ASSET: 'metadata.asset',
  NAME: 'name',
});
const RECOMMENDATION = wordsAt({
  RANK: 'rank',
  FEASIBILITY: 'feasibility',
  REASONS: 'infeasible_reasons',
  TEMPLATE: 'route.template_key',
  VERSION: 'route.version',
});
const BALANCE = wordsAt({
  VENUE: 'venue_key',
  ACCOUNT: 'account_type',
  ASSET: 'asset',
  TOTAL: { right: 'total' },
  LEFT: { right: 'svc_effective_withdrawable' },
  STALE: 'stale',
});

export const whoami = agentCommand({
  name: 'whoami',
  about: 'Show the key, its namespace, and what its authority covers',
  run: async ({ session }) => {
    const caller = await session.call('whoami');
    const params = { authority_key: await session.authority() };
    const answer = { ...caller, authority: await session.call('getAgentAuthority', { params }) };
    await session.print(answer, () => session.fields(answer, AUTHORITY));
  },
});

export const routes: Group<Session> = {
  name: 'routes',
  about: 'Ways that funds can take.',
  commands: [
    agentCommand({
      name: 'list',
      about: 'List routes',
      options: {
        status: choice(['executable', 'non_executable', 'all'], 'which of them (executable)'),
        includeHealth: flag("with their executors' health"),
      },
      run: async ({ session, options: { status = 'executable', includeHealth } }) => {
        const query = { status, include_health: includeHealth ? 'true' : undefined };
        const answer = await session.call('listRoutes', { query });
        await session.print(answer, () => session.table(rowsOf(answer, 'routes'), ROUTE));
      },
    }),
    agentCommand({
      name: 'recommend',
      about: 'Rank routes for an asset',
      options: {
        asset: required(text('code', 'what is to move')),
        sourceVenue: text('key', 'where from'),
        destinationVenue: text('key', 'where to'),
        amount: amount('how much'),
        priority: choice(['speed', 'cost'], 'what counts first (speed)'),
      },
      run: async ({ session, options }) => {
        const answer = await session.call('recommendRoutes', { body: namedForApi(options) });
        await session.print(answer, () =>
          session.table(rowsOf(answer, 'recommendations'), RECOMMENDATION),
        );
      },
    }),
  ],
};

export const balances = agentCommand({
  name: 'balances',
  about: 'Show the last known balances',
  options: {
    venueKey: text('key', 'of one venue'),
    asset: text('code', 'of one asset'),
    accountType: text('type', 'of one account type'),
  },
  run: async ({ session, options }) => {
    const answer = await session.call('getBalances', { query: namedForApi(options) });
    await session.print(answer, () => session.table(rowsOf(answer, 'balances'), BALANCE));
  },
});
