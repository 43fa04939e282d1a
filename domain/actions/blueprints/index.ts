/** Makes the plan of an agent's proposal, with the blueprint of its protocol family. */
import { PROTOCOL_FAMILIES, type ProtocolFamily } from '../spec.ts';
import { BRIDGE_C_BLUEPRINTS } from './bridge-c.ts';
import { BURN_MINT_BLUEPRINTS } from './burn-mint.ts';
import { CEX_BLUEPRINTS } from './cex.ts';
import { EVM_BLUEPRINTS } from './evm.ts';
import { none, type Blueprint, type BlueprintMaker, type BoundVenues } from './parts.ts';
import { PERP_BLUEPRINTS } from './perp.ts';

export type { Blueprint, BoundVenues };

const MAKERS: Readonly<Record<ProtocolFamily, BlueprintMaker>> = {
  ...EVM_BLUEPRINTS,
  ...BURN_MINT_BLUEPRINTS,
  ...BRIDGE_C_BLUEPRINTS,
  ...CEX_BLUEPRINTS,
  ...PERP_BLUEPRINTS,
};

/** Returns the plan of a proposal, or why there is none. */
export const blueprintOf: BlueprintMaker = (proposal, bound) => {
  const { protocol_family, asset } = proposal;
  const family = PROTOCOL_FAMILIES.find((known) => known === protocol_family);
  if (family === undefined)
    return none(
      `there is no blueprint for ${protocol_family}; use one of ${PROTOCOL_FAMILIES.join(', ')}`,
    );
  // The asset becomes part of the template's key, and so of URL paths.
  if (!/^[A-Z0-9][A-Z0-9._-]{0,31}$/.test(asset))
    return none(`${asset} cannot be part of a template's key`);
  return MAKERS[family](proposal, bound);
};
