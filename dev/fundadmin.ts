/**
 * `npm run fundadmin`: runs the program of `tools/`. Without a database in its settings the program
 * uses the embedded stack of this clone.
 */
import { existsSync } from 'node:fs';
import { fundadmin } from '../tools/command-line.ts';
import { secretsKeyPath } from './stack/keys.ts';
import { readDevSettings } from './stack/ports.ts';
import { findRunningStack, shortPath } from './stack/stack.ts';

const args = process.argv.slice(2);
process.exitCode = await fundadmin(args, {
  env: { ...embeddedStack(), ...process.env },
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});

/**
 * Returns the settings of the running stack; empty when a database is named, or for commands that
 * check the settings themselves.
 */
function embeddedStack(): Record<string, string> {
  const named = ['SVC_DATABASE_URL', 'SVC_DATABASE_OWNER_URL'].some(
    (name) => (process.env[name] ?? '') !== '' || (process.env[`${name}_FILE`] ?? '') !== '',
  );
  if (named || args[0] === 'config' || args.some((arg) => arg.startsWith('--database-url')))
    return {};
  const { dataDir } = readDevSettings();
  const urls = findRunningStack(dataDir)?.urls;
  if (urls?.databaseUrl === undefined) return {};
  const { databaseUrl, temporalAddress } = urls;
  process.stderr.write(`Using the stack that runs in ${shortPath(dataDir)}.\n`);
  const secrets = secretsKeyPath(dataDir);
  return {
    SVC_DATABASE_URL: databaseUrl,
    SVC_DATABASE_OWNER_URL: databaseUrl,
    SVC_TEMPORAL_ADDRESS: temporalAddress,
    ...(existsSync(secrets) ? { SVC_SECRETS_KEY_FILE: secrets } : {}),
  };
}
