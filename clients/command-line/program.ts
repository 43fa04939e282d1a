/** From the tree of commands to a program: its help, its faults and its exit status. */
import { Command, CommanderError, Option } from 'commander';
import { argumentOf, isGroup, type Entry, type Leaf } from './command.ts';
import { examplesOf } from './examples.ts';
import { EXIT, EXIT_MEANINGS } from './exit.ts';
import { faultOf } from './faults.ts';
import type { Io } from './io.ts';
import { commanderOption } from './options.ts';
import { printable } from './printable.ts';
import { Session, type Made } from './session.ts';
import { OUTPUTS } from './settings.ts';

export interface ProgramSpec extends Made {
  readonly about: string;
  readonly version: string;
  readonly tree: readonly Entry[];
  /** Behind the help of the program itself. */
  readonly more: string;
}

interface Global {
  readonly profile?: string;
  readonly output?: string;
  readonly quiet?: boolean;
}

/** Runs one command line (without node and script) and answers the exit status. */
export async function run(spec: ProgramSpec, args: readonly string[], io: Io): Promise<number> {
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
export function programOf(spec: ProgramSpec, io: Io): Command {
  const program = new Command(spec.name)
    .description(spec.about)
    .version(spec.version)
    .addOption(new Option('--profile <name>', 'a profile of the configuration file'))
    .addOption(
      new Option(
        '--output <form>',
        'table for people, json for programs (also SVC_OUTPUT)',
      ).choices(OUTPUTS),
    )
    .option('--quiet', 'no progress and no notes on standard error')
    .addHelpText('after', `\n${spec.more}\n${exitHelp()}`);
  for (const entry of spec.tree) {
    if (!isGroup(entry)) addLeaf(program, entry, { spec, io });
    else {
      const group = program.command(entry.name).description(entry.about);
      for (const leaf of entry.commands) addLeaf(group, leaf, { spec, io });
    }
  }
  return withStreams(program, spec.name, io);
}

function addLeaf(
  parent: Command,
  leaf: Leaf,
  { spec, io }: { readonly spec: ProgramSpec; readonly io: Io },
): void {
  const command = parent.command(leaf.name).summary(leaf.about);
  command.description([leaf.about, leaf.details].filter((part) => part !== undefined).join('\n\n'));
  for (const [name, about] of Object.entries(leaf.args))
    command.argument(`<${argumentOf(name)}>`, about);
  for (const [name, option] of Object.entries(leaf.options))
    command.addOption(commanderOption(name, option));
  const examples = examplesOf(pathOf(command), leaf);
  command.addHelpText(
    'after',
    `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
  );
  command.action(async () => {
    const { profile, output, quiet } = command.optsWithGlobals<Global>();
    const session = new Session(spec, io, { profile, output, quiet: quiet === true });
    await leaf.invoke(session, argumentsOf(leaf, command.args), command.opts());
  });
}

/** Words without end (`command...`) are one argument. */
function argumentsOf(leaf: Leaf, given: readonly string[]): readonly string[] {
  return Object.keys(leaf.args).some((name) => name.endsWith('...')) ? [given.join(' ')] : given;
}

/** Every command of it writes where the caller says, and a fault of usage is one line. */
function withStreams(program: Command, name: string, io: Io): Command {
  for (const each of [program, ...program.commands, ...program.commands.flatMap((c) => c.commands)])
    each
      .exitOverride()
      .configureHelp({ showGlobalOptions: true, subcommandTerm })
      .configureOutput({
        writeOut: io.out,
        writeErr: io.err,
        outputError: (text, write) => write(`${name}: ${oneLine(text, pathOf(each))}\n`),
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

/** What it is called and takes; that everything has options needs no word. */
function subcommandTerm(command: Command): string {
  const args = command.registeredArguments.map(
    (each) => `<${each.name()}${each.variadic ? '...' : ''}>`,
  );
  return [command.name(), ...args].join(' ');
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function exitHelp(): string {
  const lines = EXIT_MEANINGS.map(([status, means]) => `  ${String(status).padEnd(4)} ${means}\n`);
  return `Exit status:\n${lines.join('')}`;
}
