/** Keys that operators enrolled; they take precedence over the keys of the file. */
import { createSecretKey } from 'node:crypto';
import { openSecret, type SecretsKeys } from '../../platform/secrets.ts';
import type { Database } from '../../prisma/client.ts';
import { hasConfirmedKey, readOperatorKey } from '../../store/dashboard-keys.ts';
import type { OperatorKeys } from './operators.ts';

/**
 * Returns the keys of operators. An enrolled key is read from the database at each request, by an
 * index, so an ended key is refused at once. An operator who has ever enrolled cannot sign with a
 * key of the file.
 */
export function enrolledKeys(
  db: Database,
  secretsKeys: SecretsKeys,
  file: OperatorKeys,
): OperatorKeys {
  return {
    find: async (operator) => {
      const key = await readOperatorKey(db, operator);
      if (key === null) return file.find(operator);
      const { key_id, role, allowlist, state, secret } = key;
      if (state === 'ended' || secret === null) return null;
      return {
        secret: createSecretKey(openSecret(secretsKeys, secret, key_id), 'utf8'),
        role,
        allowlist,
        enrolled: { key_id, pending: state === 'pending' },
      };
    },
    any: async () => (await file.any()) || hasConfirmedKey(db),
  };
}
