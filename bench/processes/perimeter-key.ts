/**
 * The key with which the bench signs, and the key under which the service keeps it. Both live only
 * as long as the bench.
 */
import { createSecretKey } from 'node:crypto';
import { parseSecretsKey, type SecretsKeys } from '../../platform/secrets.ts';

const SECRET = 'a-secret-that-only-the-bench-uses';

export const PERIMETER_KEY = {
  keyId: 'bench-operator',
  secret: SECRET,
  secretKey: createSecretKey(SECRET, 'utf8'),
} as const;

/** As SVC_SECRETS_KEY has it. */
export const PERIMETER_SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

export function perimeterKeys(): SecretsKeys {
  const parsed = parseSecretsKey(PERIMETER_SECRETS_KEY);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.keys;
}
