/**
 * The command lines of `npm start` and `npm run demo`; both read their settings from the
 * environment.
 */
import { parseArgs } from 'node:util';
import { PORT_SETTINGS } from './stack/ports.ts';

const SETTINGS: readonly (readonly [string, string])[] = [
  ...Object.values(PORT_SETTINGS).map(
    ({ setting, standard, use }) =>
      [setting, `port of ${use} (${String(standard)}; 0 takes any free one)`] as const,
  ),
  ['SVC_DATA_DIR', 'folder of data, logs and client settings (.data)'],
  ['SVC_TEMPORAL_ADDRESS', 'a running Temporal server to use; the stack then starts none'],
];

/**
 * Prints the usage for `--help` and returns 0, or for an unknown argument and returns 2; returns
 * null when neither is present. `command` is what a person types, `does` describes it.
 */
export function answeredByUsage(
  args: readonly string[],
  command: string,
  does: readonly string[],
): number | null {
  let help = false;
  try {
    help = parseArgs({
      args: [...args],
      options: { help: { type: 'boolean', short: 'h', default: false } },
    }).values.help;
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\n\n${usage(command, does)}`,
    );
    return 2;
  }
  if (help) process.stdout.write(usage(command, does));
  return help ? 0 : null;
}

function usage(command: string, does: readonly string[]): string {
  const wide = Math.max(...SETTINGS.map(([name]) => name.length));
  return [
    `Usage: ${command}`,
    '',
    ...does,
    '',
    'Settings, from the environment:',
    ...SETTINGS.map(([name, what]) => `  ${name.padEnd(wide)}  ${what}`),
    '',
    'Settings of the service work too (docs/configuration.md), except those that the stack itself decides.',
    '',
  ].join('\n');
}
