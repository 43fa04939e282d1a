/** `fundadmin keys revoke` */
import { revokeKey, type RevokedKey } from '../../store/keys.ts';
import { warnUnvouched, withDatabase } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { toolAudit } from './audit.ts';

/** Revokes a key; one that is revoked already stays so, which is no fault. */
export async function revoke(
  options: { readonly keyId: string; readonly reason?: string; readonly databaseUrl?: string },
  io: ToolIo,
): Promise<RevokedKey & { readonly key_status: 'revoked' }> {
  // In an emergency the key goes first; that its audit row is not vouched for can be lived with.
  warnUnvouched(io, 'revoke');
  const audit = [toolAudit('api_key.revoke', options.keyId, options.reason ?? null)];
  const revoked = await withDatabase(options, io, (db) => revokeKey(db, options.keyId, audit));
  if (revoked === null) throw new ToolError(`There is no key ${options.keyId}.`);
  return { ...revoked, key_status: 'revoked' };
}
