/** Commands about the program itself: its settings, output schemas and shell completions. */
import { command, isGroup, type Entry, type Group, type JsonSchema, type Leaf } from './command.ts';
import { completionOf, SHELLS } from './completion.ts';
import { EXIT, CommandError, usageError } from './exit.ts';
import type { Session } from './session.ts';
import { readableByOthers, type SecretSource } from './settings.ts';
import { schemaOf } from './schemas.ts';

const nullableText = { type: ['string', 'null'] };
const CONFIG: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['file', 'profile', 'settings', 'problems'],
  properties: {
    file: { type: 'string' },
    file_exists: { type: 'boolean' },
    profile: nullableText,
    profiles: { type: 'array', items: { type: 'string' } },
    settings: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'value', 'from'],
        properties: { name: { type: 'string' }, value: nullableText, from: { type: 'string' } },
      },
    },
    problems: { type: 'array', items: { type: 'string' } },
  },
};

/** The command `config check`, which shows the settings and their problems. */
export const config: Group = {
  name: 'config',
  about: 'With what this program calls the service',
  commands: [
    command({
      name: 'check',
      about: 'Tell which settings are used, and from where; secrets are never shown',
      details: 'Sends no request. Ends with 2 where something is missing.',
      answer: { schema: CONFIG },
      run: async ({ session }) => {
        const { profiles } = session.settings;
        const settings = settingsOf(session);
        const problems = problemsOf(session);
        const result = {
          file: profiles.file,
          file_exists: profiles.exists,
          profile: profiles.chosen,
          profiles: profiles.names,
          settings,
          problems,
        };
        await session.print(
          result,
          async () =>
            session.view.record([
              ['file', `${profiles.file}${profiles.exists ? '' : ' (not there)'}`],
              ['profile', profiles.chosen],
            ]) +
            (await session.view.table(settings, { SETTING: 'name', VALUE: 'value', FROM: 'from' })),
        );
        const [first] = problems;
        if (first !== undefined) throw new CommandError(EXIT.usage, problems.join(' '));
      },
    }),
  ],
};

function settingsOf({ settings }: Session) {
  const { apiUrl, keyId, secret, output, approver, dashboardOperator, dashboardSecret } = settings;
  const row = (name: string, setting: { value: string; from: string } | null) => ({
    name,
    value: setting?.value ?? null,
    from: setting?.from ?? 'not set',
  });
  const hidden = (name: string, source: SecretSource | null) =>
    row(
      name,
      source && {
        value: source.file === null ? '(set)' : `(in ${source.file})`,
        from: source.from,
      },
    );
  return [
    row('api_url', apiUrl),
    row('key_id', keyId),
    hidden('secret', secret),
    row('output', output),
    row('approver', approver),
    row('dashboard_operator', dashboardOperator),
    hidden('dashboard_secret', dashboardSecret),
  ];
}

function problemsOf({ settings }: Session): readonly string[] {
  const { keyId, secret, dashboardOperator, dashboardSecret } = settings;
  return [
    ...(keyId === null && secret === null ? ['No key is set (SVC_KEY_ID).'] : []),
    ...halves('key', keyId, secret),
    ...halves('dashboard operator', dashboardOperator, dashboardSecret),
    ...[secret, dashboardSecret].flatMap((each) => (each === null ? [] : unreadable(each))),
  ];
}

function halves(what: string, name: object | null, secret: object | null): readonly string[] {
  if ((name === null) === (secret === null)) return [];
  return [
    name === null ? `A secret is set without its ${what}.` : `A ${what} is set without its secret.`,
  ];
}

function unreadable(source: SecretSource): readonly string[] {
  try {
    source.read();
  } catch (error) {
    if (error instanceof CommandError) return [error.message];
    throw error;
  }
  return source.file !== null && readableByOthers(source.file) === true
    ? [`Others may read ${source.file}: chmod 600 it.`]
    : [];
}

/** Returns the commands `schema` and `completion`, which cover all commands of the program. */
export function selfCommands(program: string, tree: () => readonly Entry[]): readonly Leaf[] {
  return [
    command({
      name: 'schema',
      about: 'Print the JSON Schema of what a command prints with --output json',
      examples: [`${program} schema movements list`],
      args: { 'command...': 'the words of the command' },
      answer: { schema: { type: 'object' } },
      run: async ({ session, args }) => {
        const path = args['command...'];
        const found = leavesOf(tree()).find((each) => each.path === path);
        if (found === undefined) throw usageError(`There is no command "${path}".`);
        const schema = await schemaOf(found.leaf.answer);
        if (schema === null) throw usageError(`${program} ${path} prints no JSON.`);
        session.io.out(`${JSON.stringify(schema, null, 2)}\n`);
      },
    }),
    command({
      name: 'completion',
      about: 'Print the completion script of a shell',
      details: `bash: source <(${program} completion bash). zsh: ${program} completion zsh > "\${fpath[1]}/_${program}". fish: ${program} completion fish > ~/.config/fish/completions/${program}.fish.`,
      args: { shell: SHELLS.join(', ') },
      answer: null,
      run: ({ session, args }) => {
        const shell = SHELLS.find((each) => each === args.shell);
        if (shell === undefined)
          throw usageError(
            `There is no completion for "${args.shell}", but for ${SHELLS.join(', ')}.`,
          );
        session.io.out(completionOf(shell, program, tree()));
        return Promise.resolve();
      },
    }),
  ];
}

/** Returns every command with its path, such as `movements list`. */
export function leavesOf(
  tree: readonly Entry[],
): readonly { readonly path: string; readonly leaf: Leaf }[] {
  return tree.flatMap((entry) =>
    isGroup(entry)
      ? entry.commands.map((leaf) => ({ path: `${entry.name} ${leaf.name}`, leaf }))
      : [{ path: entry.name, leaf: entry }],
  );
}
