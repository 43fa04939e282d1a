/** The signer that an account or an agent of the perps venue is to have. */
import { ServiceError } from '../../../domain/errors.ts';
import { readIdentity } from '../../../signers/identity.ts';
import { readSignerRow } from '../../../store/registry.ts';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import { liveIdentity } from '../../../api/registries/live-identity.ts';

/**
 * The checksummed address that the signer tells now. Refused is one that is not known, not active,
 * no EVM signer, does not tell who it is, or is not who it is pinned to be.
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
  // One without a row was never switched.
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
