/** Reads the identity of a bridge's endpoint, through the chains of the venues file. */
import { getAddress, isAddress, keccak256, parseAbi } from 'viem';
import { readEndpointIdentity, type BridgeReader } from '../../domain/bridges/registry.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { bridgeCPart } from './config.ts';

const ENDPOINT = parseAbi(['function eid() view returns (uint32)']);

type BridgedVenue = Pick<EvmVenue, 'venue_key' | 'chain_id' | 'parts'>;

/** Returns `<eid>:<endpoint address>` in lower case; undefined for a venue without this bridge. */
function identityOf(venue: BridgedVenue): string | undefined {
  const part = bridgeCPart.of(venue);
  return part === undefined ? undefined : `${part.eid}:${part.endpoint}`.toLowerCase();
}

/**
 * Returns the reader of bridge registry rows. A row's chain is the venue whose `bridge_c` entry has
 * the row's endpoint identity, else the venue whose key or decimal chain id the row names. The
 * facts are the chain's id, the eid that the endpoint reports and the hash of its code. An endpoint
 * that reports another eid than the row is refused.
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
      if (
        venue === undefined ||
        identity === null ||
        !isAddress(identity.address, { strict: false })
      )
        return { ok: false };
      const address = getAddress(identity.address.toLowerCase());
      try {
        const connection = await chains.open(venue.chain_id, {
          signal,
          requestId: 'a look at a bridge',
        });
        const eid = await connection.read({ address, abi: ENDPOINT, functionName: 'eid' });
        const code = await connection.ask((client) => client.getCode({ address }));
        if (eid !== identity.eid || code === undefined) return { ok: false };
        return { ok: true, facts: { chain_id: venue.chain_id, eid, code_hash: keccak256(code) } };
      } catch (error) {
        // Every failure of a chain to answer is an ExecutorFault.
        if (error instanceof ExecutorFault) return { ok: false };
        throw error;
      }
    },
  };
}
