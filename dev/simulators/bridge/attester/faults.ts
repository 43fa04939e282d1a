/** Faults of the attester that tests can set. */
import { z } from 'zod';
import { milliseconds, rate, remaining } from '../../kit/faults.ts';

export const attesterFaultsSchema = z.strictObject({
  /** Delay before each call does anything, in milliseconds. */
  latency_ms: milliseconds,
  /** Share of calls that return `error_status` and do nothing. */
  error_rate: rate,
  error_status: z.int().min(500).max(599).default(500),
  /** Share of calls that are executed and then lose their connection before the response. */
  lose_answer_rate: rate,
  /** Share of calls that return 200 with a body that is not in the API's shape. */
  garbage_rate: rate,
  /** Every call returns 429. */
  limited: z.boolean().default(false),
  /** More calls than this in a second get 429 for `limit_ms`, as in the API's reference. */
  limit_per_second: z.int().min(1).default(35),
  limit_ms: z.int().min(0).default(300_000),
  /**
   * Milliseconds from when a message was first seen, or another attestation was requested, to the
   * attestation.
   */
  delay_ms: milliseconds,
  /**
   * `never`: messages without an attestation stay pending. `unknown`: every message returns 404.
   */
  attestation: z.enum(['given', 'never', 'unknown']).default('given'),
  /**
   * New attestations expire after this number of destination blocks; 0: immediately, null: after
   * the usual number.
   */
  expires_in_blocks: z.int().min(0).nullable().default(null),
  /** Fee of a fast burn, in basis points (hundredths of a percent). */
  fast_fee_bps: z.int().min(0).max(10_000).default(1),
  /**
   * False content of responses, with valid signatures; without this fault they contain the attested
   * message again. `above_max_fee`: a fee of one base unit more than the burn allows. `equal_burn`:
   * the message of the first burn with the same terms.
   */
  tells: z
    .enum([
      'truth',
      'above_max_fee',
      'other_amount',
      'other_recipient',
      'other_caller',
      'equal_burn',
    ])
    .default('truth'),
  /**
   * `forged`: signed with other keys. `disordered`: signed with the right keys, in decreasing
   * order.
   */
  signatures: z.enum(['right', 'forged', 'disordered']).default('right'),
  /** Number of calls that the first five faults still affect; null: until they are removed. */
  remaining,
});
export type AttesterFaults = z.infer<typeof attesterFaultsSchema>;
