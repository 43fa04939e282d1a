/** Schemas of an agent's authority and of a proposal's fields, as the service returns them. */
import { z } from 'zod';

export const authority = z.object({
  authority_key: z.string(),
  max_notional: z.string().nullable(),
  allowed_assets: z.array(z.string()),
  allowed_chains: z.array(z.string()),
  max_ttl_seconds: z.number().nullable(),
});
export type Authority = z.infer<typeof authority>;

/** Fields of a proposal that a rule may check; a field that is not known is left out. */
export const proposedFields = z.object({
  asset: z.string().optional(),
  protocol_family: z.string().optional(),
  source_chain: z.string().optional(),
  destination_chain: z.string().optional(),
  destination_address: z.string().optional(),
  signer_profile: z.string().optional(),
  requested_notional: z.string().optional(),
  ttl_seconds: z.number().optional(),
});
export type Proposed = z.infer<typeof proposedFields>;
