/** Defines the burn-and-mint venue: burns tokens on one chain and mints them on another. */
import { defineVenue } from '../venue.ts';
import { burnMintPart } from './config.ts';
import { burnMintActs, createBurnMintExecutors } from './lane.ts';
import { createAttestationReader } from './named-attestation.ts';
import { createMintReader } from './named-mint.ts';

export const burnMint = defineVenue({
  part: burnMintPart,
  open: (_, { chains, evmVenues }) => ({
    executors: createBurnMintExecutors(chains, evmVenues),
    acts: burnMintActs(evmVenues),
    claims: [createAttestationReader({ chains, venues: evmVenues })],
    mints: createMintReader({ chains, venues: evmVenues }),
  }),
});
