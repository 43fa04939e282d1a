/** `fundadmin keys revoke`: revokes an API key, and says whether it is in the wrong hands. */
import { revokeKey, type RevokedKey } from '../../store/keys.ts';
import { warnUnvouched, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { toolAudit } from './audit.ts';
import {
  checkCompromised,
  compromise,
  type Compromise,
  type CompromisedOptions,
} from './compromised.ts';

export interface RevokeOptions extends DatabaseOption, CompromisedOptions {
  readonly keyId: string;
  readonly reason?: string;
}

/** The printed result. */
export interface Revoked extends RevokedKey {
  readonly key_status: 'revoked';
  /** With `--compromised`. */
  readonly compromised?: Compromise | null;
}

/** Revokes an API key; a key that is already revoked stays revoked, which is no fault. */
export async function revoke(options: RevokeOptions, io: ToolIo): Promise<Revoked> {
  const { keyId, reason = null, compromised = false } = options;
  checkCompromised(options);
  // Only warns: in an emergency, revoking the key is more important than a MAC on its audit row.
  warnUnvouched(io, 'revoke');
  const audit = [toolAudit('api_key.revoke', keyId, reason)];
  return withDatabase(options, io, async (db) => {
    const revoked = await revokeKey(db, keyId, audit);
    if (revoked === null) throw new ToolError(`There is no key ${keyId}.`);
    const ended = { ...revoked, key_status: 'revoked' } as const;
    if (!compromised) return ended;
    const key = { kind: 'api_key', key_id: keyId } as const;
    return { ...ended, compromised: await compromise(db, key, { ...options, reason }) };
  });
}
