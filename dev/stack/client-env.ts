import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROLES } from '../../domain/roles.ts';
import { DEV_AUTHORITY, type DevKeys } from './keys.ts';

/**
 * Writes `<dataDir>/clients/<role>.env`, the environment of the client tools, readable only by the
 * owner.
 */
export function writeClientEnvironments(dataDir: string, apiUrl: string, keys: DevKeys): void {
  const dir = join(dataDir, 'clients');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const role of ROLES) {
    const text = [
      `# Environment of the client tools as ${role}. Load it with: set -a; . ${join(dir, `${role}.env`)}; set +a`,
      `SVC_API_URL=${apiUrl}`,
      `SVC_KEY_ID=${keys[role].keyId}`,
      `SVC_HMAC_SECRET=${keys[role].secret}`,
      ...(role === 'agent'
        ? [`SVC_AUTHORITY_KEY=${DEV_AUTHORITY}`, `SVC_AGENT_NAMESPACE=agent/${DEV_AUTHORITY}`]
        : []),
      '',
    ].join('\n');
    const file = join(dir, `${role}.env`);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text)
      writeFileSync(file, text, { mode: 0o600 });
    chmodSync(file, 0o600);
  }
}
