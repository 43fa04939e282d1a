/** `fundadmin keys revoke`: revokes an API key. */
import { revokeKey, type RevokedKey } from '../../store/keys.ts';
import { warnUnvouched, withDatabase } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { toolAudit } from './audit.ts';

/** Revokes an API key; a key that is already revoked stays revoked, which is no fault. */
export async function revoke(
  options: { readonly keyId: string; readonly reason?: string; readonly databaseUrl?: string },
  io: ToolIo,
): Promise<RevokedKey & { readonly key_status: 'revoked' }> {
  // Only warns: in an emergency, revoking the key is more important than a MAC on its audit row.
  warnUnvouched(io, 'revoke');
  const audit = [toolAudit('api_key.revoke', options.keyId, options.reason ?? null)];
  const revoked = await withDatabase(options, io, (db) => revokeKey(db, options.keyId, audit));
  if (revoked === null) throw new ToolError(`There is no key ${options.keyId}.`);
  return { ...revoked, key_status: 'revoked' };
}
