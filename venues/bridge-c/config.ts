/** What the configs of the bridge_c lane look like. */
import { z } from 'zod';
import { chainIdSchema, paddedAddressSchema } from '../evm/config.ts';

/** Node configs carry keys for others too, so these schemas read only their own. */
export const sendConfigSchema = z
  .object({
    source_chain_id: chainIdSchema,
    destination_chain_id: chainIdSchema,
    /** Of the destination chain. */
    destination_address: paddedAddressSchema,
  })
  .refine((config) => config.source_chain_id !== config.destination_chain_id, {
    path: ['destination_chain_id'],
    message: 'is the chain that is sent from',
  });
