/** What the attester can do wrong. */
import { z } from 'zod';
import { milliseconds, rate, remaining } from '../../kit/faults.ts';

export const attesterFaultsSchema = z.strictObject({
  /** Waits this long before anything else. */
  latency_ms: milliseconds,
  /** Share of calls that answer `error_status` and do nothing. */
  error_rate: rate,
  error_status: z.int().min(500).max(599).default(500),
  /** Share of calls that are carried out and then lose their connection instead of answering. */
  lose_answer_rate: rate,
  /** Share of calls that answer 200 with something else than the API's shape. */
  garbage_rate: rate,
  /** Every call is answered 429. */
  limited: z.boolean().default(false),
  /** More calls than this in a second are answered 429 for `limit_ms`, as the reference says. */
  limit_per_second: z.int().min(1).default(35),
  limit_ms: z.int().min(0).default(300_000),
  /** From the first sight of a message, or from a request to attest again, to the attestation. */
  delay_ms: milliseconds,
  /** `never`: unattested messages stay pending while this holds. `unknown`: 404. */
  attestation: z.enum(['given', 'never', 'unknown']).default('given'),
  /** New attestations expire so many blocks of the destination later; 0: at once. */
  expires_in_blocks: z.int().min(0).nullable().default(null),
  /** Cost of a fast burn, in hundredths of a percent. */
  fast_fee_bps: z.int().min(0).max(10_000).default(1),
  /**
   * What answers contain instead of the truth, with valid signatures; afterwards they contain the
   * attested message again. `above_max_fee`: a fee of one base unit more than the burn allows.
   * `equal_burn`: the message of the first burn of the same terms.
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
  /** `forged`: signed by others. `disordered`: the right ones, in decreasing order. */
  signatures: z.enum(['right', 'forged', 'disordered']).default('right'),
  /** For how many calls the first five hold; null is until they are removed. */
  remaining,
});
export type AttesterFaults = z.infer<typeof attesterFaultsSchema>;
