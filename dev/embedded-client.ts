/** Lets the command lines of this clone find the embedded stack automatically. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../domain/roles.ts';
import { readDevSettings } from './stack/ports.ts';
import { shortPath } from './stack/stack.ts';

/**
 * Returns the client settings of this clone's stack for a caller of this role. Empty when the
 * environment names a service or key, or when no stack was ever started.
 */
export function embeddedClientEnv(
  role: Role,
  named: readonly string[] = ['SVC_API_URL', 'SVC_KEY_ID'],
): Record<string, string> {
  const { dataDir } = readDevSettings();
  const file = join(dataDir, 'clients', `${role}.env`);
  if (named.some((name) => (process.env[name] ?? '') !== '') || !existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').split('\n');
  const settings = lines.flatMap((line) => {
    const [, name, value] = /^(SVC_\w+)=(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  process.stderr.write(`Using the stack in ${shortPath(dataDir)} as its ${role}.\n`);
  return Object.fromEntries(settings);
}
