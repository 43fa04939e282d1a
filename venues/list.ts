/** Lists every venue. A new venue is added only here. */
import { bridgeC } from './bridge-c/index.ts';
import { burnMint } from './burn-mint/index.ts';
import { cex } from './cex/index.ts';
import { evmVenueSchemaWith } from './evm/config.ts';
import { evmWith } from './evm/index.ts';
import type { ChainPart } from './evm/part.ts';
import { paper } from './paper/index.ts';
import { perp } from './perp/index.ts';
import type { Venue } from './venue.ts';

/** The venues that add fields to the entries of chains. */
const BRIDGES: readonly Venue[] = [burnMint, bridgeC];
export const PARTS: readonly ChainPart[] = BRIDGES.flatMap(({ part }) => part ?? []);

/** The schema of a chain's entry, with the fields of all bridges. */
export const evmVenueSchema = evmVenueSchemaWith(PARTS);

export const evm = evmWith(PARTS);

/** All venues, in the order in which executors are listed and faults are reported. */
export const VENUES: readonly Venue[] = [evm, ...BRIDGES, paper, perp, cex];
