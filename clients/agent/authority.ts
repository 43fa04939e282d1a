/** What an agent's authority covers, and what it proposes, as they are read from the service. */
import { z } from 'zod';

export const authority = z.object({
  authority_key: z.string(),
  max_notional: z.string().nullable(),
  allowed_assets: z.array(z.string()),
  allowed_chains: z.array(z.string()),
  max_ttl_seconds: z.number().nullable(),
});
export type Authority = z.infer<typeof authority>;

/** Fields of a proposal that a rule may be about; each is null where it is not known. */
export interface Asked {
  readonly asset?: string | undefined;
  readonly protocol_family?: string | undefined;
  readonly source_chain?: string | undefined;
  readonly destination_chain?: string | undefined;
  readonly destination_address?: string | undefined;
  readonly signer_profile?: string | undefined;
  readonly requested_notional?: string | undefined;
  readonly ttl_seconds?: number | undefined;
}
