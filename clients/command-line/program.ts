/** Makes a program from the command tree: its help, error messages and exit status. */
import { Command, CommanderError, type Option } from 'commander';
import { argumentOf, isGroup, type ArgumentSpecs, type Entry, type Leaf } from './command.ts';
import { EXIT, EXIT_MEANINGS } from './exit.ts';
import { faultOf } from './faults.ts';
import type { Io } from './io.ts';
import { commanderOption, type Globals } from './options.ts';
import { printable } from './printable.ts';

export interface ProgramSpec<S> {
  readonly name: string;
  readonly about: string;
  readonly version: string;
  readonly tree: readonly Entry<S>[];
  /** Text added at the end of the program's own help. */
  readonly more: string;
  /** Options of every command. */
  readonly globals: readonly Option[];
  /** Makes the session of a command run: settings, client and output. */
  readonly session: (io: Io, globals: Globals) => S;
  /** If left out, help has no examples and a usage error refers to the help of the program. */
  readonly help?: {
    readonly examples: (path: string, leaf: Leaf<S>) => readonly string[];
    readonly subcommandTerm: (command: Command) => string;
  };
}

/** Runs one command line; `args` has no node and no script. Returns the exit status. */
export async function run<S>(
  spec: ProgramSpec<S>,
  args: readonly string[],
  io: Io,
): Promise<number> {
  try {
    await programOf(spec, io, args).parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    // The commander library has already printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { message, status } = faultOf(error);
    if (message !== null) io.err(`${spec.name}: ${printable(message)}\n`);
    return status;
  }
}

/**
 * Returns the program with its groups and top-level commands. A group has its commands only if
 * `args` contains its name, since no other group can be called, nor its help be shown.
 */
export function programOf<S>(spec: ProgramSpec<S>, io: Io, args: readonly string[]): Command {
  const program = new Command(spec.name)
    .description(spec.about)
    .version(spec.version)
    .addHelpText('after', `\n${spec.more}${exitHelp()}`);
  for (const option of spec.globals) program.addOption(option);
  for (const entry of spec.tree) {
    if (!isGroup(entry)) addLeaf(program, entry, { spec, io });
    else {
      const group = program.command(entry.name).description(entry.about);
      if (!args.includes(entry.name)) continue;
      for (const leaf of entry.commands) addLeaf(group, leaf, { spec, io });
    }
  }
  return withStreams(program, spec, io);
}

function addLeaf<S>(
  parent: Command,
  leaf: Leaf<S>,
  { spec, io }: { readonly spec: ProgramSpec<S>; readonly io: Io },
): void {
  const command = parent.command(leaf.name).summary(leaf.about);
  command.description([leaf.about, leaf.details].filter((part) => part !== undefined).join('\n\n'));
  for (const [name, about] of Object.entries(leaf.args))
    command.argument(`<${argumentOf(name)}>`, about);
  for (const [name, option] of Object.entries(leaf.options))
    command.addOption(commanderOption(name, option));
  const examples = spec.help?.examples(pathOf(command), leaf) ?? [];
  if (examples.length > 0)
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}`);
  command.action(async () => {
    const session = spec.session(io, command.optsWithGlobals<Globals>());
    await leaf.invoke(session, argumentsOf(leaf.args, command.args), command.opts());
  });
}

/** Returns the arguments; the words of a repeated argument (`command...`) become one argument. */
function argumentsOf(specs: ArgumentSpecs, words: readonly string[]): readonly string[] {
  return Object.keys(specs).some((name) => name.endsWith('...')) ? [words.join(' ')] : words;
}

/** Makes every command write to the streams of `io`, and print a usage error on one line. */
function withStreams<S>(program: Command, { name, help }: ProgramSpec<S>, io: Io): Command {
  for (const each of [program, ...program.commands, ...program.commands.flatMap((c) => c.commands)])
    each
      .exitOverride()
      .configureHelp({
        showGlobalOptions: true,
        ...(help && { subcommandTerm: help.subcommandTerm }),
      })
      .configureOutput({
        writeOut: io.out,
        writeErr: io.err,
        outputError: (text, write) =>
          write(`${name}: ${oneLine(text, help ? pathOf(each) : name)}\n`),
      });
  return program;
}

function oneLine(text: string, path: string): string {
  const words = text
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim();
  return printable(`${words} (see ${path} --help)`);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function exitHelp(): string {
  const lines = EXIT_MEANINGS.map(([status, means]) => `  ${String(status).padEnd(4)} ${means}\n`);
  return `Exit status:\n${lines.join('')}`;
}
