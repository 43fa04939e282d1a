/** From the tree of commands to a program: its help, its faults and its exit status. */
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
  /** Behind the help of the program itself. */
  readonly more: string;
  /** Options of every command. */
  readonly globals: readonly Option[];
  /** What a command runs with. */
  readonly session: (io: Io, globals: Globals) => S;
  /** Left out: a command's help has no examples, and a fault of usage names the program's help. */
  readonly help?: {
    readonly examples: (path: string, leaf: Leaf<S>) => readonly string[];
    readonly subcommandTerm: (command: Command) => string;
  };
}

/** Runs one command line (without node and script) and answers the exit status. */
export async function run<S>(
  spec: ProgramSpec<S>,
  args: readonly string[],
  io: Io,
): Promise<number> {
  try {
    await programOf(spec, io).parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    // Its own words are out already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { message, status } = faultOf(error);
    if (message !== null) io.err(`${spec.name}: ${printable(message)}\n`);
    return status;
  }
}

/** The program with all its commands. */
export function programOf<S>(spec: ProgramSpec<S>, io: Io): Command {
  const program = new Command(spec.name)
    .description(spec.about)
    .version(spec.version)
    .addHelpText('after', `\n${spec.more}${exitHelp()}`);
  for (const option of spec.globals) program.addOption(option);
  for (const entry of spec.tree) {
    if (!isGroup(entry)) addLeaf(program, entry, { spec, io });
    else {
      const group = program.command(entry.name).description(entry.about);
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

/** Repeated words (`command...`) are one argument. */
function argumentsOf(specs: ArgumentSpecs, words: readonly string[]): readonly string[] {
  return Object.keys(specs).some((name) => name.endsWith('...')) ? [words.join(' ')] : words;
}

/** Every command of it writes where the caller says, and a fault of usage is one line. */
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
