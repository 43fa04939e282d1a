/** Builds docs/configuration.md from the settings. `npm run docs:tables` writes the file. */
import { IGNORED_NAMES } from '../../platform/config/names.ts';
import { FILE, type Setting } from '../../platform/config/setting.ts';
import type { Duty } from '../../platform/config/role.ts';
import { SECTIONS, SETTING_LIST } from '../../platform/config/settings.ts';

export const CONFIGURATION_FILE = 'docs/configuration.md';

/** Returns the text of the page. */
export function configurationPage(): string {
  return [
    '# Configuration',
    '',
    '<!-- Written by `npm run docs:tables` from platform/config/settings.ts; not by hand. -->',
    '',
    'Every setting is an environment variable, read once at the start. All faults are reported together',
    'and stop the start; so does an unknown name beginning with `SVC_`, which is most likely',
    'misspelt. An empty value counts as unset. `npm run fundadmin -- config check` shows what holds',
    'in the present environment (`--json` for scripts), secrets only as set or unset.',
    '',
    'A setting marked *secret* can also come from a file: `<name>_FILE` holds its path, and one newline',
    'at its end is no part of the secret. Giving both is a fault. No fault, log line or metric shows a',
    'secret.',
    '',
    'A service needs `SVC_DATABASE_URL` and `SVC_SECRETS_KEY`, and to move anything an address of',
    "Temporal (`SVC_TEMPORAL_ADDRESS`, or Temporal's own `TEMPORAL_ADDRESS` or profile:",
    '[operations.md](operations.md#connecting-to-temporal)), `SVC_REGISTRY_FILE` (executors and',
    'signers) and `SVC_VENUES_FILE` (chains,',
    'exchanges, accounts). The embedded stack (`npm start`) sets what it needs by itself. How to choose:',
    '[operations.md](operations.md).',
    '',
    ...Object.entries(SECTIONS).flatMap(([title, settings]) => section(title, settings)),
    ...secretsByRole(),
    '## Names that the service knows and does not read',
    '',
    ...ignored(),
    '',
  ].join('\n');
}

function section(
  title: string,
  settings: Readonly<Record<string, Setting<unknown>>>,
): readonly string[] {
  const rows = Object.entries(settings).map(
    ([name, setting]) =>
      `| \`${name}\`${setting.secret ? ' *secret*' : ''} | ${setting.description} | ${setting.type} | ${unless(setting)} |`,
  );
  return [`## ${title}`, '', '| setting | | value | default |', '|---|---|---|---|', ...rows, ''];
}

const OF_VENUES = 'venues: `credentials_file`, and the `auth_token_file` of `served_at`';

/**
 * Secrets whose paths the registry and venues files name. `test/signers/start.test.ts` and
 * `test/slow/process-secrets.test.ts` check that an API process opens none of them.
 */
const NAMED_IN_FILES = [
  'signers: `private_key_file`, `auth_token_file`, and the credentials of the key service (the machine’s own)',
  'executors: `auth_token_file`, `result_secret_file`',
  OF_VENUES,
] as const;

/** The commands that connect to Temporal (tools/temporal/connection.ts). */
const OVER_TEMPORAL = '`runs …`, `movements rebuild`, `temporal search-attributes`';

/** When `fundadmin` opens a secret, besides `config check --role`, which opens the role's. */
const OF_FUNDADMIN: Readonly<Record<string, string>> = {
  SVC_DATABASE_URL: 'yes, or `--database-url`',
  SVC_DATABASE_OWNER_URL: '`database migrate`, `database grant`, `database status`',
  SVC_SECRETS_KEY:
    '`keys issue`, `keys audit-key`, `dashboard confirm`; others where `SVC_AUDIT_KEY` is unset',
  SVC_AUDIT_KEY: 'commands that leave audit rows, `audit verify`',
  SVC_TEMPORAL_API_KEY: OVER_TEMPORAL,
  SVC_TEMPORAL_HEADERS: OVER_TEMPORAL,
  SVC_PAYLOAD_KEYS: OVER_TEMPORAL,
  [OF_VENUES]: '`venues reconcile`',
};

function secretsByRole(): readonly string[] {
  const row = (name: string, openedBy: readonly Duty[] | 'all', without?: string): string => {
    const by = (duty: Duty): string =>
      openedBy === 'all' || openedBy.includes(duty)
        ? 'yes'
        : without === undefined
          ? 'no'
          : `only without \`${without}\``;
    const called = name.startsWith('SVC_') ? `\`${name}\`` : name;
    return `| ${called} | ${by('api')} | ${by('worker')} | ${OF_FUNDADMIN[name] ?? 'no'} |`;
  };
  return [
    '## Which process opens which secret',
    '',
    'A process reads and opens only what its role uses: what another role alone needs may be set and',
    'unreadable, or absent. `all` opens both; with `SVC_WORKERS_ENABLED=false` it is an API. Where an',
    'API needs to know what only a signer or an exchange can say (an address, balances), a worker looks',
    'for it; without a worker what depends on it is refused.',
    '',
    '| secret | API | worker | `fundadmin` |',
    '|---|---|---|---|',
    // A file that one role alone opens holds secrets, too.
    ...SETTING_LIST.filter(
      ([, { secret, openedBy, type }]) => secret || (openedBy !== 'all' && type === FILE.type),
    ).map(([name, { openedBy, openedWithout }]) => row(name, openedBy, openedWithout)),
    ...NAMED_IN_FILES.map((name) => row(name, ['worker'])),
    '',
  ];
}

function unless(setting: Setting<unknown>): string {
  if (setting.required) return '**must be set**';
  return setting.default === null ? 'unset' : `\`${setting.default}\``;
}

function ignored(): readonly string[] {
  const readers = [...new Set(Object.values(IGNORED_NAMES))];
  return readers.map((reader) => {
    const names = Object.entries(IGNORED_NAMES).filter(([, by]) => by === reader);
    return `- read by the ${reader}: ${names.map(([name]) => `\`${name}\``).join(', ')}`;
  });
}
