/** POST /perp-venue/master-account: stores the account that pays at the venue. */
import type { z } from 'zod';
import { perpSentence } from '../../../domain/perps/ready.ts';
import type { RequirementCheck } from '../../../api/dependencies.ts';
import { auditOf, type Requester } from '../../../domain/commands/context.ts';
import { ServiceError } from '../../../domain/errors.ts';
import type { PerpMaster, PerpNetworkName } from '../../../domain/perps/registry.ts';
import { checksummed, sameEvmAddress } from '../../../platform/evm-address.ts';
import { createPerpMaster, readPerpMaster } from '../../../store/perp-venue.ts';
import type { PerpVenue } from '../config.ts';
import { auditedRefusal } from '../../../api/audit/refused.ts';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import type { Reply } from '../../../api/http/route.ts';
import type { masterCreate, masterResponse } from './schema.ts';
import { masterView, subjectOf } from './shown.ts';
import { addressOfSigner } from './signer.ts';

type Body = z.output<typeof masterCreate>;
type Requested = Omit<PerpMaster, 'created_at'>;

/**
 * Stores the account that pays at the venue. Address and network must match the venues file and the
 * signer. An equal repeat returns the account without new checks.
 */
export async function createMaster(
  { body, requester }: { readonly body: Body; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof masterResponse>>> {
  const requested: Requested = {
    ...body,
    network: body.network as PerpNetworkName,
    master_address: body.master_address.toLowerCase(),
  };
  const subject = subjectOf('perp_master', 'create', body.master_address, body);
  return auditedRefusal(deps, requester, subject, async () => {
    const known = await readPerpMaster(deps.db);
    if (known !== null) return repeated(known, requested);
    const { venue } = deps.venues?.perp ?? {};
    if (venue === undefined) throw new ServiceError('perp_venue_not_bound');
    mustBeOf(venue, requested);
    const runtime_address = await addressOfSigner(body.signer_key, deps);
    if (!sameEvmAddress(runtime_address, body.master_address))
      throw new ServiceError('signer_identity_mismatch', {
        context: { signer_key: body.signer_key, runtime_address },
      });
    const change = await createPerpMaster(deps.db, requested, auditOf(requester, subject));
    return change.outcome === 'created'
      ? { status: 200, body: masterView(change.row) }
      : repeated(change.row, requested);
  });
}

function mustBeOf(venue: PerpVenue, { master_address, network }: Requested): void {
  const expected = {
    ...(sameEvmAddress(venue.account, master_address) ? {} : { master_address: venue.account }),
    ...(networkOf(venue) === network ? {} : { network: networkOf(venue) }),
  };
  const fields = Object.keys(expected);
  if (fields.length > 0)
    throw new ServiceError('master_account_mismatch', { context: { fields, expected } });
}

/** Returns the venue's network as callers write it, in lower case. */
function networkOf({ network }: PerpVenue): string {
  return network.toLowerCase();
}

function repeated(known: PerpMaster, requested: Requested): Reply<z.input<typeof masterResponse>> {
  const fields = (['master_address', 'signer_key', 'network', 'label'] as const).filter(
    (field) => known[field] !== requested[field],
  );
  if (fields.length > 0)
    throw new ServiceError('master_account_exists', {
      context: { master_address: checksummed(known.master_address), fields },
    });
  return {
    status: 200,
    headers: { 'Idempotent-Replayed': 'true' },
    body: masterView(known),
  };
}

/**
 * Returns a problem while there is no master account: without it no node of the venue can be sent.
 */
export const masterRequirement: RequirementCheck = {
  kind: 'perp',
  async problem(db) {
    if ((await readPerpMaster(db)) !== null) return null;
    const code = 'MASTER_ACCOUNT_MISSING';
    return `${code}: ${perpSentence({ code, key: '' })}`;
  },
};
