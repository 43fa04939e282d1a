import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROLES = ['admin', 'operator', 'agent'] as const;

/**
 * Writes `<dataDir>/clients/<role>.env`, the environment of the client tools. Until requests are
 * signed, the key ids in them are placeholders.
 */
export function writeClientEnvironments(dataDir: string, apiUrl: string): void {
  const dir = join(dataDir, 'clients');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const role of ROLES) {
    const text = [
      `# Environment of the client tools as ${role}. Load it with: set -a; . ${join(dir, `${role}.env`)}; set +a`,
      '# Requests are not signed yet, so the key id is only a placeholder.',
      `SVC_API_URL=${apiUrl}`,
      `SVC_KEY_ID=dev-${role}`,
      '',
    ].join('\n');
    const file = join(dir, `${role}.env`);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text, { mode: 0o600 });
    chmodSync(file, 0o600);
  }
}
