/** `get_balances`: the balances at the venues, as the service last read them. */
import { z } from 'zod';
import { assetIn, count, cut, inText, maybeWord, nameIn, partIn, partOf, word } from '../fields.ts';
import { read } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const balance = z.object({
  venue_key: word,
  asset: word,
  account_type: word,
  stale: z.boolean(),
  available: maybeWord,
  withdrawable: maybeWord,
  total: maybeWord,
  svc_pending_outflow: maybeWord,
  svc_effective_withdrawable: maybeWord,
  svc_effective_reason: maybeWord,
  fetched_at: maybeWord,
});

export const getBalances = defineTool({
  name: 'get_balances',
  title: 'Read what the venues hold',
  description:
    'The last known balance of each venue, asset and account. `svc_effective_withdrawable` is what is left after what the service has promised already; a `stale` row is old. It sends no request to a venue.',
  effects: READ_ONLY,
  power: 'reads',
  input: z.strictObject({
    venue_key: z.string().min(1).max(200).optional(),
    asset: assetIn.optional(),
    account_type: nameIn.optional(),
    ...partIn(50, 25),
  }),
  output: z.strictObject({ balances: z.array(balance).max(50), total: count, cut }),
  run: async ({ limit, offset, ...query }, { api, signal }) => {
    const { balances } = read(
      z.object({ balances: z.array(balance) }),
      await api.call('getBalances', { query, signal }),
    );
    const { rows, ...part } = partOf(balances, { offset, limit }, 'get_balances');
    return {
      data: { balances: [...rows], total: balances.length, ...part },
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
