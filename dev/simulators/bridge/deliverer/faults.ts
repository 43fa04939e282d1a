/** Faults of the deliverer that tests can set. */
import { z } from 'zod';
import { milliseconds } from '../../kit/faults.ts';

export const delivererFaultsSchema = z.strictObject({
  /** Minimum age of a packet before the deliverer acts on it, in milliseconds. */
  delay_ms: milliseconds,
  /** Number of blocks, including the packet's own, before a packet is verified. */
  confirmations: z.int().min(1).max(1_000).default(1),
  /** false: packets are neither verified nor delivered. */
  verify: z.boolean().default(true),
  /** false: the deliverer only verifies packets; any other account may deliver them. */
  deliver: z.boolean().default(true),
  /** Number of extra deliveries of each delivered packet; the endpoint refuses them. */
  repeat: z.int().min(0).max(10).default(0),
  /** Number of first attempts of each packet that fail with an alert. */
  fail_times: z.int().min(0).max(1_000).default(0),
  /**
   * Verified packets wait until this number of packets waits for a destination; then they are
   * delivered in `order`.
   */
  hold_until: z.int().min(1).max(100).default(1),
  order: z.enum(['as_sent', 'reversed']).default('as_sent'),
});
export type DelivererFaults = z.infer<typeof delivererFaultsSchema>;
