/** What the venue can do wrong. */
import { z } from 'zod';
import { milliseconds, rate } from '../kit/faults.ts';

const CLOCKS_APART_MS = 7 * 86_400_000;

export const perpFaultsSchema = z.strictObject({
  /** Waits this long before anything else. */
  latency_ms: milliseconds,
  /** Every call is answered 429 with the body `null`, and nothing is done. */
  rate_limited: z.boolean().default(false),
  /** Share of calls that answer 500 and do nothing. */
  refuse_rate: rate,
  /** Share of calls that are carried out and then lose their connection instead of answering. */
  lose_answer_rate: rate,
  /** Share of calls that are carried out and answer 200 with something else than JSON. */
  garbage_rate: rate,
  /** Which calls the faults above hit. */
  calls: z
    .array(z.enum(['exchange', 'info']))
    .min(1)
    .default(['exchange', 'info']),
  /** The next action that is admitted is refused with this text. */
  reject_next: z
    .strictObject({ text: z.string().min(1) })
    .nullable()
    .default(null),
  /** The venue's clock is so far ahead of this machine's, or behind it. */
  clock_ahead_ms: z.int().min(-CLOCKS_APART_MS).max(CLOCKS_APART_MS).default(0),
  /** /info answers as of so long ago. */
  stale_info_ms: milliseconds,
  /** Rows come into the ledgers so long after their time. */
  ledger_delay_ms: milliseconds,
  /** How long after its action a withdrawal is paid at the earliest. */
  withdrawal_seconds: z.number().min(0).max(86_400).default(2),
  /** No withdrawal is paid while this holds. */
  hold_withdrawals: z.boolean().default(false),
  /** Deposits are lost while this holds. */
  swallow_deposits: z.boolean().default(false),
  /** Blocks, a transaction's own included, after which deposits and payouts count. */
  confirmations: z.int().min(1).max(1_000).default(3),
  /** false: agents that are approved from now on sign, and are not listed yet. */
  list_agents: z.boolean().default(true),
  /** So long after an agent was taken away its master may approve none. */
  agent_removal_ms: milliseconds,
  /** What `usdcRouting` answers; the venue has no actions of the other route. */
  usdc_route: z.enum(['bridge', 'cctp']).default('bridge'),
});
export type PerpFaults = z.infer<typeof perpFaultsSchema>;

/** The venue's time in milliseconds. */
export function venueNow({ clock_ahead_ms }: PerpFaults): number {
  return Date.now() + clock_ahead_ms;
}
