/** Asks the endpoint of a bridge what it is, through the chains of the venues file. */
import { getAddress, isAddress, keccak256, parseAbi } from 'viem';
import { readEndpointIdentity, type BridgeReader } from '../../domain/bridges/registry.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { bridgeCPart } from './config.ts';

const ENDPOINT = parseAbi(['function eid() view returns (uint32)']);

type BridgedVenue = Pick<EvmVenue, 'venue_key' | 'chain_id' | 'parts'>;

/** Lower case; undefined for a venue that is not on the bridge. */
function identityOf(venue: BridgedVenue): string | undefined {
  const part = bridgeCPart.of(venue);
  return part === undefined ? undefined : `${part.eid}:${part.endpoint}`.toLowerCase();
}

/**
 * A row's chain is the venue that says this identity in its `bridge_c` entry, or else whose key or
 * decimal chain id the row names. The facts are the chain's id,
 * what the endpoint says of itself and the hash of its code; an endpoint that says another eid
 * than the row is none of the row's.
 */
export function createBridgeReader({
  chains,
  venues,
}: {
  readonly chains: EvmChains;
  readonly venues: readonly BridgedVenue[];
}): BridgeReader {
  return {
    async read({ chain, endpoint_identity }, { signal }) {
      const venue =
        venues.find((each) => identityOf(each) === endpoint_identity.toLowerCase()) ??
        venues.find(({ venue_key, chain_id }) => [venue_key, String(chain_id)].includes(chain));
      const identity = readEndpointIdentity(endpoint_identity);
      if (venue === undefined || identity === null) return { ok: false };
      if (!isAddress(identity.address, { strict: false })) return { ok: false };
      const address = getAddress(identity.address.toLowerCase());
      try {
        const connection = await chains.open(venue.chain_id, {
          signal,
          requestId: 'a look at a bridge',
        });
        const eid = await connection.ask((client) =>
          client.readContract({ address, abi: ENDPOINT, functionName: 'eid' }),
        );
        const code = await connection.ask((client) => client.getCode({ address }));
        if (eid !== identity.eid || code === undefined) return { ok: false };
        return { ok: true, facts: { chain_id: venue.chain_id, eid, code_hash: keccak256(code) } };
      } catch (error) {
        // Whatever the chain does instead of answering is one of these.
        if (error instanceof ExecutorFault) return { ok: false };
        throw error;
      }
    },
  };
}
