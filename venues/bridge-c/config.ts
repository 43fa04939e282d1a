/** Schemas of bridge_c: its field in a chain's venue entry, and its node configs. */
import { z } from 'zod';
import {
  addressSchema,
  chainIdSchema,
  paddedAddressSchema,
  symbol,
  uint32,
} from '../evm/config.ts';
import { definePart, type OwnContract } from '../evm/part.ts';

/** The `bridge_c` field of a chain's venue entry (docs/decisions/0073-bridges.md). */
const partSchema = z.strictObject({
  eid: uint32.min(1),
  endpoint: addressSchema,
  /** For each asset, the contract that sends it to other chains and receives it from them. */
  tokens: z.array(z.strictObject({ asset: symbol, oft: addressSchema })).min(1),
});
export type BridgeCVenue = z.output<typeof partSchema>;

export const bridgeCPart = definePart<BridgeCVenue>({
  lane: 'bridge_c',
  field: 'bridge_c',
  schema: partSchema,
  /**
   * Returns faults: two chains may not share an endpoint id, nor may an asset have two contracts.
   */
  faults: ({ eid, tokens: carried }, { tokens }, { earlier, at }) => [
    ...(earlier.some((other) => other.eid === eid)
      ? [`${at}.eid: ${eid} is already another chain's above`]
      : []),
    ...carried.flatMap(({ asset, oft }, index) => {
      const before = carried.slice(0, index);
      const place = `${at}.tokens[${index}]`;
      return [
        ...(tokens.some((token) => token.asset === asset)
          ? []
          : [`${place}.asset: ${asset} is not among the tokens of this venue`]),
        ...(before.some((other) => other.asset === asset)
          ? [`${place}.asset: ${asset} is already listed above`]
          : []),
        ...(before.some((other) => other.oft === oft)
          ? [`${place}.oft: this contract is already listed above`]
          : []),
      ];
    }),
  ],
  contracts: ({ endpoint, tokens }) => [
    ...tokens.map(({ asset, oft }): OwnContract => [`the contract that sends ${asset}`, oft]),
    ['the endpoint of the bridge', endpoint],
  ],
  bridge: ({ eid, endpoint, tokens }) => ({
    endpoint_identity: `${eid}:${endpoint}`,
    carriers: tokens.map(({ asset, oft }) => ({ asset, address: oft })),
  }),
});

/** Not strict: node configs also carry keys for other readers. */
export const sendConfigSchema = z
  .object({
    source_chain_id: chainIdSchema,
    destination_chain_id: chainIdSchema,
    /** Address on the destination chain; also accepted when padded to 32 bytes. */
    destination_address: paddedAddressSchema,
  })
  .refine((config) => config.source_chain_id !== config.destination_chain_id, {
    path: ['destination_chain_id'],
    message: 'is the source chain itself; name another chain',
  });
