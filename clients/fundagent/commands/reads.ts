/** `whoami`, `routes`, `balances`. */
import { amount, choice, flag, required, text } from '../../command-line/options.ts';
import { agentCommand } from '../command.ts';
import { rowsOf, wordOf } from '../words.ts';

const ROUTE = [
  {
    title: 'TEMPLATE',
    of: (row: object) => `${wordOf(row, 'template_key')}@${wordOf(row, 'version')}`,
  },
  { title: 'FAMILY', of: (row: object) => wordOf(row, 'metadata', 'transport_family') },
  { title: 'FROM', of: (row: object) => wordOf(row, 'metadata', 'source_venue') },
  { title: 'TO', of: (row: object) => wordOf(row, 'metadata', 'destination_venue') },
  { title: 'ASSET', of: (row: object) => wordOf(row, 'metadata', 'asset') },
  { title: 'NAME', of: (row: object) => wordOf(row, 'name') },
];

export const readCommands = [
  agentCommand({
    words: ['whoami'],
    about: 'Show the key, its namespace, and what its authority covers',
    run: async (session) => {
      const caller = await session.call('whoami');
      const params = { authority_key: await session.authority() };
      const authority = await session.call('getAgentAuthority', { params });
      await session.print({ ...caller, authority }, () =>
        session.record([
          ['key', wordOf(caller, 'key_id')],
          ['role', wordOf(caller, 'role')],
          ['namespace', wordOf(caller, 'namespace')],
          ['max notional', wordOf(authority, 'max_notional')],
          ['assets', wordOf(authority, 'allowed_assets')],
          ['chains', wordOf(authority, 'allowed_chains')],
          ['max ttl seconds', wordOf(authority, 'max_ttl_seconds')],
        ]),
      );
    },
  }),
  agentCommand({
    words: ['routes', 'list'],
    about: 'List routes',
    options: {
      status: choice(['executable', 'non_executable', 'all'], 'which of them (executable)'),
      includeHealth: flag("with their executors' health"),
    },
    run: async (session, { status = 'executable', includeHealth }) => {
      const query = { status, include_health: includeHealth ? 'true' : undefined };
      const answer = await session.call('listRoutes', { query });
      await session.print(answer, () => session.table(rowsOf(answer, 'routes'), ROUTE));
    },
  }),
  agentCommand({
    words: ['routes', 'recommend'],
    about: 'Rank routes for an asset',
    options: {
      asset: required(text('code', 'what is to move')),
      sourceVenue: text('key', 'where from'),
      destinationVenue: text('key', 'where to'),
      amount: amount('how much'),
      priority: choice(['speed', 'cost'], 'what counts first (speed)'),
    },
    run: async (session, { sourceVenue, destinationVenue, ...rest }) => {
      const body = { ...rest, source_venue: sourceVenue, destination_venue: destinationVenue };
      const answer = await session.call('recommendRoutes', { body });
      await session.print(answer, () =>
        session.table(rowsOf(answer, 'recommendations'), [
          { title: 'RANK', of: (row) => wordOf(row, 'rank') },
          { title: 'FEASIBILITY', of: (row) => wordOf(row, 'feasibility') },
          { title: 'REASONS', of: (row) => wordOf(row, 'infeasible_reasons') },
          { title: 'TEMPLATE', of: (row) => wordOf(row, 'route', 'template_key') },
          { title: 'VERSION', of: (row) => wordOf(row, 'route', 'version') },
        ]),
      );
    },
  }),
  agentCommand({
    words: ['balances'],
    about: 'Show the last known balances',
    options: {
      venueKey: text('key', 'of one venue'),
      asset: text('code', 'of one asset'),
      accountType: text('type', 'of one account type'),
    },
    run: async (session, { venueKey, asset, accountType }) => {
      const query = { venue_key: venueKey, asset, account_type: accountType };
      const answer = await session.call('getBalances', { query });
      await session.print(answer, () =>
        session.table(rowsOf(answer, 'balances'), [
          { title: 'VENUE', of: (row) => wordOf(row, 'venue_key') },
          { title: 'ACCOUNT', of: (row) => wordOf(row, 'account_type') },
          { title: 'ASSET', of: (row) => wordOf(row, 'asset') },
          { title: 'TOTAL', of: (row) => wordOf(row, 'total'), right: true },
          { title: 'LEFT', of: (row) => wordOf(row, 'svc_effective_withdrawable'), right: true },
          { title: 'STALE', of: (row) => wordOf(row, 'stale') },
        ]),
      );
    },
  }),
];
