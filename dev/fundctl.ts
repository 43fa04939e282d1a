/**
 * `npm run fundctl`: the operator's program, which finds the embedded stack of this clone by itself
 * where nobody says which service and key are meant.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processIo } from '../clients/command-line/process-io.ts';
import { fundctl } from '../clients/fundctl/program.ts';
import { readDevSettings } from './stack/ports.ts';
import { shortPath } from './stack/stack.ts';

const args = process.argv.slice(2);
process.exitCode = await fundctl(args, processIo({ ...embeddedStack(), ...process.env }));

/** The admin's environment of the stack in this clone; none where something is said otherwise. */
function embeddedStack(): Record<string, string> {
  const named = ['SVC_API_URL', 'SVC_KEY_ID', 'SVC_CLIENT_CONFIG'].some(
    (name) => (process.env[name] ?? '') !== '',
  );
  const { dataDir } = readDevSettings();
  const file = join(dataDir, 'clients', 'admin.env');
  if (named || args.some((arg) => arg.startsWith('--profile')) || !existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').split('\n');
  const settings = lines.flatMap((line) => {
    const [, name, value] = /^(SVC_\w+)=(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  process.stderr.write(`Using the stack in ${shortPath(dataDir)} as its admin.\n`);
  return Object.fromEntries(settings);
}
