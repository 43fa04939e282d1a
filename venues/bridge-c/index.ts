/** Defines the bridge_c venue: sends tokens in packets, over paths of the bridge registry. */
import { defineVenue } from '../venue.ts';
import { bridgeCPart } from './config.ts';
import { bridgeCActs, createBridgeCExecutors } from './lane.ts';
import { createDeliveryReader, createSendReader } from './named-packet.ts';
import { createBridgeReader } from './reader.ts';

export const bridgeC = defineVenue({
  part: bridgeCPart,
  open: (_, { chains, evmVenues }) => ({
    executors: createBridgeCExecutors(chains, evmVenues),
    acts: bridgeCActs(evmVenues),
    claims: [createSendReader({ chains, venues: evmVenues }), createDeliveryReader({ chains })],
    bridge: createBridgeReader({ chains, venues: evmVenues }),
  }),
});
