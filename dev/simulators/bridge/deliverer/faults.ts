/** What the deliverer can do wrong. */
import { z } from 'zod';
import { milliseconds } from '../../kit/faults.ts';

export const delivererFaultsSchema = z.strictObject({
  /** Nothing is done before a packet is this old. */
  delay_ms: milliseconds,
  /** Blocks, the packet's own included, before it is verified. */
  confirmations: z.int().min(1).max(1_000).default(1),
  /** false: packets are left alone. */
  verify: z.boolean().default(true),
  /** false: packets are only verified; any other account may deliver them. */
  deliver: z.boolean().default(true),
  /** Each delivered packet is delivered so many times more, which the endpoint refuses. */
  repeat: z.int().min(0).max(10).default(0),
  /** The first so many tries of each packet fail, and say so with an alert. */
  fail_times: z.int().min(0).max(1_000).default(0),
  /** Packets wait, verified, until so many of a destination do; then they go in this order. */
  hold_until: z.int().min(1).max(100).default(1),
  order: z.enum(['as_sent', 'reversed']).default('as_sent'),
});
export type DelivererFaults = z.infer<typeof delivererFaultsSchema>;
