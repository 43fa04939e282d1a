/** Reads the signer of an account or an agent of the perps venue. */
import { ServiceError } from '../../../domain/errors.ts';
import { readIdentity } from '../../../signers/identity.ts';
import { readSignerRow } from '../../../store/registry.ts';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import { liveIdentity } from '../../../api/registries/live-identity.ts';

/**
 * Returns the checksummed address that the signer reports now. Refuses a signer that is unknown,
 * inactive, not an EVM signer, does not report its address, or reports another address than its
 * pinned one.
 */
export async function addressOfSigner(
  signer_key: string,
  { db, signers }: ApiDependencies,
): Promise<string> {
  const context = { signer_key };
  const signer = signers.get(signer_key);
  const row = await readSignerRow(db, signer_key);
  const family = signer?.descriptor.chain_family ?? row?.chain_family;
  if (family === undefined) throw new ServiceError('signer_not_found', { context });
  if (family !== 'evm') throw new ServiceError('signer_identity_not_applicable', { context });
  // A signer without a row never changed its status, so it is active.
  const status = row?.status ?? 'active';
  if (status !== 'active')
    throw new ServiceError('signer_not_active', { context: { ...context, current_state: status } });
  const live = await liveIdentity(signer);
  if (live.address === null) throw new ServiceError(live.problem, { context });
  const pin = row?.expected_signer_address ?? null;
  const expected = pin === null ? null : readIdentity(pin);
  if (expected?.ok === false)
    throw new ServiceError('signer_expected_identity_invalid', { context });
  if (expected !== null && expected.address !== live.address)
    throw new ServiceError('signer_identity_mismatch', {
      context: { ...context, expected_signer_address: pin, runtime_address: live.address },
    });
  return live.address;
}
