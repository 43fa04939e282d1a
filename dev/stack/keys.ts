/**
 * The API keys of the embedded stack: one for each role, made at the first start and kept in the
 * data folder.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClientKey } from '../../clients/http/index.ts';
import { ROLES, type Role } from '../../domain/roles.ts';
import { listKeys } from '../../store/keys.ts';
import { withDatabase } from '../../tools/database.ts';
import { issue } from '../../tools/keys/issue.ts';

/** An API key with its secret as text. */
export interface SigningKey extends ClientKey {
  readonly secret: string;
}

export type DevKeys = Readonly<Record<Role, SigningKey>>;

/** The agent's authority in the embedded stack. */
export const DEV_AUTHORITY = 'dev';
const DEV_LIMITS = {
  authorityKey: DEV_AUTHORITY,
  maxNotional: '1000',
  allowedAssets: 'USDC',
  allowedChains: 'local-chain',
  maxTtlSeconds: '3600',
};

/** Returns the path of the file with the key that encrypts the stack's secrets. */
export function secretsKeyPath(dataDir: string): string {
  return join(dataDir, 'config', 'secrets.key');
}

/**
 * Returns the path for SVC_SECRETS_KEY_FILE. The file gets `key` if there is one, else keeps its
 * content, else gets a new key.
 */
export function secretsKeyFile(dataDir: string, key?: string): string {
  const file = secretsKeyPath(dataDir);
  if (key !== undefined) writePrivate(file, `${key}\n`);
  else if (!existsSync(file)) writePrivate(file, `${randomBytes(32).toString('base64')}\n`);
  return file;
}

/** Reads the keys that a start wrote; throws before the first start. */
export function readDevKeys(dataDir: string): DevKeys {
  return JSON.parse(readFileSync(keysFile(dataDir), 'utf8')) as DevKeys;
}

function keysFile(dataDir: string): string {
  return join(dataDir, 'config', 'dev-keys.json');
}

/** Issues a key for each role when the database has none; returns the keys with their secrets. */
export async function ensureDevKeys(databaseUrl: string, dataDir: string): Promise<DevKeys> {
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_SECRETS_KEY_FILE: secretsKeyFile(dataDir) };
  const io = { env, out: () => undefined, err: () => undefined };
  const file = keysFile(dataDir);
  const issued = new Set(
    (await withDatabase({ databaseUrl }, io, (db) => listKeys(db, null))).map((key) => key.key_id),
  );
  const kept = existsSync(file) ? readDevKeys(dataDir) : null;
  const keys = kept ?? newKeys(issued);
  // Written before the keys are issued, so that the next start after an interrupted one uses the
  // same keys.
  if (kept === null) writePrivate(file, `${JSON.stringify(keys, null, 2)}\n`);
  for (const role of ROLES) {
    const { keyId, secret: hmacSecret } = keys[role];
    if (issued.has(keyId)) continue;
    const authority = role === 'agent' ? { ...DEV_LIMITS, replace: true } : {};
    await issue({ clientName: `dev-${role}`, keyId, role, hmacSecret, ...authority }, io);
  }
  return keys;
}

/**
 * Returns new keys. When the database has keys of the plain names whose file was lost, their
 * secrets are lost too, so the new keys get other names.
 */
function newKeys(issued: ReadonlySet<string>): DevKeys {
  const key = (role: Role): SigningKey => ({
    keyId: issued.has(`dev-${role}`)
      ? `dev-${role}-${randomBytes(4).toString('hex')}`
      : `dev-${role}`,
    secret: randomBytes(32).toString('hex'),
  });
  return { admin: key('admin'), operator: key('operator'), agent: key('agent') };
}

function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}
