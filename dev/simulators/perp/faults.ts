/** Faults of the venue that tests can set. */
import { z } from 'zod';
import { milliseconds, rate } from '../kit/faults.ts';

const CLOCKS_APART_MS = 7 * 86_400_000;

export const perpFaultsSchema = z.strictObject({
  /** Delay before each call does anything, in milliseconds. */
  latency_ms: milliseconds,
  /** Every call returns 429 with the body `null`, and does nothing. */
  rate_limited: z.boolean().default(false),
  /** Share of calls that return 500 and do nothing. */
  refuse_rate: rate,
  /** Share of calls that are executed and then lose their connection before the response. */
  lose_answer_rate: rate,
  /** Share of calls that are executed and return 200 with a body that is not JSON. */
  garbage_rate: rate,
  /** Calls that the faults above affect. */
  calls: z
    .array(z.enum(['exchange', 'info']))
    .min(1)
    .default(['exchange', 'info']),
  /** The next admitted action is refused with this text. */
  reject_next: z
    .strictObject({ text: z.string().min(1) })
    .nullable()
    .default(null),
  /** Milliseconds that the venue's clock is ahead of this machine's; negative: behind. */
  clock_ahead_ms: z.int().min(-CLOCKS_APART_MS).max(CLOCKS_APART_MS).default(0),
  /** `/info` returns the state of this many milliseconds ago. */
  stale_info_ms: milliseconds,
  /** Ledger rows appear this many milliseconds after their time. */
  ledger_delay_ms: milliseconds,
  /** Minimum seconds from a withdrawal's action to its payment. */
  withdrawal_seconds: z.number().min(0).max(86_400).default(2),
  /** Withdrawals are not paid while this is true. */
  hold_withdrawals: z.boolean().default(false),
  /** Deposits are not credited while this is true, and never later. */
  swallow_deposits: z.boolean().default(false),
  /** Number of blocks, including the transaction's own, after which deposits and payouts count. */
  confirmations: z.int().min(1).max(1_000).default(3),
  /** false: agents approved from now on may sign, but are not listed. */
  list_agents: z.boolean().default(true),
  /** After removing an agent, its master may approve no agent for this many milliseconds. */
  agent_removal_ms: milliseconds,
  /** Result of `usdcRouting`. The simulator has no actions for `cctp`. */
  usdc_route: z.enum(['bridge', 'cctp']).default('bridge'),
});
export type PerpFaults = z.infer<typeof perpFaultsSchema>;

/** Returns the venue's time, in milliseconds since 1970. */
export function venueNow({ clock_ahead_ms }: PerpFaults): number {
  return Date.now() + clock_ahead_ms;
}
