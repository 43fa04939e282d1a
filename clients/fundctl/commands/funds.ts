/** `fundctl balances`, `routes` and `budgets`: the funds, and the routes that they can take. */
import type { Group, Leaf } from '../../command-line/command.ts';
import { operation } from '../../command-line/operation.ts';
import { amount, choice, flag, required, text } from '../../command-line/options.ts';
import type { Columns } from '../../command-line/columns.ts';
import { state, type View } from '../../command-line/view.ts';
import { age, duration } from '../../command-line/words.ts';
import type { Schema } from '../../http/operations.ts';

export const balances: Leaf = operation('listBalances', {
  name: 'balances',
  about: 'What venues hold, and what of it is promised already',
  options: {
    venue: text('venue', 'only this venue'),
    asset: text('asset', 'only this asset'),
    accountType: text('type', 'only accounts of this type'),
    fresh: flag('ask the venue first (with --venue)'),
  },
  input: ({ options }) => ({
    query: {
      venue_key: options.venue,
      asset: options.asset,
      account_type: options.accountType,
      fresh: options.fresh ? true : undefined,
    },
  }),
  show: async (session, body) => {
    const shown = await session.table(body.balances, {
      VENUE: 'venue_key',
      ACCOUNT: 'account_type',
      ASSET: 'asset',
      TOTAL: { right: 'total' },
      WITHDRAWABLE: { right: 'withdrawable' },
      PROMISED: { right: 'svc_pending_outflow' },
      LEFT: { right: 'svc_effective_withdrawable' },
      'HELD BY': 'svc_effective_reason',
      SEEN: (row) =>
        row.stale
          ? { text: `${age(row.fetched_at)} (stale)`, tone: 'waiting' }
          : age(row.fetched_at),
    });
    return shown + (await withdrawalsText(session.view, body.venues));
  },
});

/** Returns what venues show of their withdrawals; empty where none shows anything. */
async function withdrawalsText(
  view: View,
  venues: readonly Schema<'BalanceVenue'>[],
): Promise<string> {
  const rows = venues.flatMap(({ venue_key, withdrawals }) =>
    withdrawals === null ? [] : [{ venue_key, ...withdrawals }],
  );
  if (rows.length === 0) return '';
  const table = await view.table(rows, {
    VENUE: 'venue_key',
    'MAY WITHDRAW': {
      right: ({ quota }) => (quota === null ? '?' : `${quota.left} ${quota.unit}`),
    },
    'DOES NOT PAY OUT': ({ closed }) =>
      closed.map(({ asset, network }) => `${asset} on ${network ?? 'every network'}`).join(', '),
    SEEN: (row) => age(row.read_at),
  });
  return view.heading('Withdrawals') + table;
}

type Route = Schema<'RouteView'>;
const ROUTE: Columns<Route> = {
  TEMPLATE: (row) => `${row.template_key}@${String(row.version)}`,
  ASSET: (row) => row.metadata.asset,
  FROM: (row) => row.metadata.source_venue,
  TO: (row) => row.metadata.destination_venue,
  BY: (row) => row.metadata.transport_family,
  DONE: ({ stats }) =>
    stats === null
      ? ''
      : `${String(stats.total_completed)} of ${String(stats.total_completed + stats.total_failed)}`,
  TAKES: ({ stats }) =>
    stats?.avg_duration_seconds == null ? '' : duration(stats.avg_duration_seconds),
  HEALTH: (row) => state(row.health?.status),
};

export const routes: Group = {
  name: 'routes',
  about: 'Templates as ways from one venue to another',
  commands: [
    operation('listRoutes', {
      name: 'list',
      about: 'List routes, one for each template version',
      options: {
        health: flag('with the health of their executors'),
        status: choice(['executable', 'non_executable', 'all'], 'which of them'),
      },
      input: ({ options }) => ({
        query: {
          include_health: options.health ? true : undefined,
          status: options.status,
        },
      }),
      show: (session, body) => session.table(body.routes, ROUTE),
    }),
    operation('recommendRoutes', {
      name: 'recommend',
      about: 'Rank the routes for an asset and an amount',
      options: {
        asset: required(text('asset', 'what is to be moved')),
        from: text('venue', 'where it is'),
        to: text('venue', 'where it should go'),
        amount: amount('how much'),
        priority: choice(['speed', 'cost'], 'what counts most'),
      },
      input: ({ options: { from, to, ...rest } }) => ({
        body: { source_venue: from, destination_venue: to, ...rest },
      }),
      show: (session, { recommendations }) =>
        session.table(
          recommendations.map(({ route, ...rank }) => ({ ...route, ...rank })),
          {
            RANK: { right: 'rank' },
            SCORE: { right: (row) => row.score.toFixed(3) },
            ...ROUTE,
            'NOT NOW': (row) => ({ text: row.infeasible_reasons.join(', '), tone: 'bad' }),
          },
        ),
    }),
  ],
};

export const budgets: Leaf = operation('getBudget', {
  name: 'budgets',
  about: "What is left of a strategy's budgets for automatic approval",
  args: { strategyId: 'the strategy' },
  options: { client: text('client-id', 'only those of this client') },
  input: ({ args, options }) => ({
    params: { strategy_id: args.strategyId },
    query: { client_id: options.client },
  }),
  show: (session, body) =>
    session.table(body.policies, {
      POLICY: 'policy_id',
      WINDOW: (row) => `${String(row.window_hours)}h`,
      'AT MOST': { right: 'max_amount_per_window' },
      RESERVED: { right: 'reserved_amount' },
      CONSUMED: { right: 'consumed_amount' },
      LEFT: { right: 'available_amount' },
      COUNT: (row) =>
        `${String(row.count_in_window)} of ${String(row.max_count_per_window ?? '∞')}`,
    }),
});
