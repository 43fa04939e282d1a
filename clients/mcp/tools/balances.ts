/** `get_balances`: what the venues hold, as it was last seen. */
import { z } from 'zod';
import {
  assetIn,
  count,
  cut,
  inText,
  maybeWord,
  named,
  nameIn,
  partIn,
  partOf,
  word,
} from '../fields.ts';
import { read } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const decimal = z.string().nullable();
const balance = z.object({
  venue_key: z.string(),
  asset: z.string(),
  account_type: z.string(),
  available: decimal,
  withdrawable: decimal,
  total: decimal,
  stale: z.boolean(),
  svc_pending_outflow: decimal,
  svc_effective_withdrawable: decimal,
  svc_effective_reason: decimal,
  fetched_at: z.string().nullable(),
});

const TEXTS = [
  'available',
  'withdrawable',
  'total',
  'svc_pending_outflow',
  'svc_effective_withdrawable',
  'svc_effective_reason',
  'fetched_at',
] as const;

export const getBalances = defineTool({
  name: 'get_balances',
  title: 'Read what the venues hold',
  description:
    'The last known balance of each venue, asset and account. `svc_effective_withdrawable` is what is left after what the service has promised already; a `stale` row is old. No venue is asked for this.',
  effects: READ_ONLY,
  input: z.strictObject({
    venue_key: z.string().min(1).max(200).optional(),
    asset: assetIn.optional(),
    account_type: nameIn.optional(),
    ...partIn(50, 25),
  }),
  output: z.strictObject({
    balances: z
      .array(
        z.strictObject({
          venue_key: word,
          asset: word,
          account_type: word,
          stale: z.boolean(),
          ...(Object.fromEntries(TEXTS.map((name) => [name, maybeWord])) as Record<
            (typeof TEXTS)[number],
            typeof maybeWord
          >),
        }),
      )
      .max(50),
    total: count,
    cut,
  }),
  run: async ({ limit, offset, ...query }, { api, signal }) => {
    const { balances } = read(
      z.object({ balances: z.array(balance) }),
      await api.call('getBalances', { query, signal }),
    );
    const part = partOf(balances, { offset, limit }, 'get_balances');
    const rows = part.rows.map((row) => ({
      venue_key: named(row.venue_key) ?? '',
      asset: named(row.asset) ?? '',
      account_type: named(row.account_type) ?? '',
      stale: row.stale,
      ...(Object.fromEntries(TEXTS.map((name) => [name, named(row[name])])) as Record<
        (typeof TEXTS)[number],
        string | null
      >),
    }));
    return {
      data: { balances: rows, total: balances.length, cut: part.cut },
      text: [
        `${String(rows.length)} of ${String(balances.length)} balances.`,
        ...rows.map(
          (row) =>
            `${inText(row.venue_key)} ${inText(row.account_type)}: ${inText(row.svc_effective_withdrawable ?? row.available ?? 'unknown')} ${inText(row.asset)}${row.stale ? ' (stale)' : ''}`,
        ),
      ].join('\n'),
    };
  },
});
