/** The agent CLI: what an agent may ask for, and nothing else. */
import { Command, CommanderError, Option } from 'commander';
import { VERSION } from '../agent/version.ts';
import { EXIT, EXIT_MEANINGS } from '../command-line/exit.ts';
import { faultOf } from '../command-line/faults.ts';
import type { Io } from '../command-line/io.ts';
import { commanderOption } from '../command-line/options.ts';
import { printable } from '../command-line/printable.ts';
import type { AgentCommand } from './command.ts';
import { movementCommands } from './commands/movements.ts';
import { proposalCommands } from './commands/proposals.ts';
import { readCommands } from './commands/reads.ts';
import { Session } from './session.ts';

const NAME = 'fundagent';
export const COMMANDS: readonly AgentCommand[] = [
  ...readCommands,
  ...movementCommands,
  ...proposalCommands,
];

const GROUPS: Readonly<Record<string, string>> = {
  routes: 'Ways that funds can take.',
  movements: "Movements of the agent's namespace.",
  proposals: 'What the agent proposes.',
};

const MORE = `Settings: SVC_KEY_ID, SVC_HMAC_SECRET_FILE (or SVC_HMAC_SECRET), SVC_API_URL,
SVC_AGENT_NAMESPACE or SVC_AUTHORITY_KEY (else the key's own), SVC_OUTPUT (json).
`;

/** Runs one command line (without node and script) and answers the exit status. */
export async function fundagent(args: readonly string[], io: Io): Promise<number> {
  try {
    await programOf(io).parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    // Its own words are out already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { message, status } = faultOf(error);
    if (message !== null) io.err(`${NAME}: ${printable(message)}\n`);
    return status;
  }
}

function programOf(io: Io): Command {
  const program = new Command(NAME)
    .description('Reads the fund movement service, and proposes, as an agent.')
    .version(VERSION)
    .addOption(
      new Option('--output <form>', 'table for people, json for programs').choices([
        'table',
        'json',
      ]),
    )
    .addHelpText('after', `\n${MORE}${exitHelp()}`);
  const groups = new Map<string, Command>();
  for (const each of COMMANDS) {
    const [first = '', second] = each.words;
    if (second === undefined) add(program, first, each, io);
    else {
      const group = groups.get(first) ?? program.command(first).description(GROUPS[first] ?? '');
      groups.set(first, group);
      add(group, second, each, io);
    }
  }
  return withStreams(program, io);
}

function add(parent: Command, word: string, spec: AgentCommand, io: Io): void {
  const command = parent.command(word).description(spec.about);
  if (spec.argument !== null) command.argument(`<${spec.argument}>`);
  for (const [name, option] of Object.entries(spec.options))
    command.addOption(commanderOption(name, option));
  command.action(async () => {
    const { output } = command.optsWithGlobals<{ output?: string }>();
    await spec.invoke(new Session(io, output), command.opts(), command.args[0] ?? '');
  });
}

/** Every command writes where the caller says, and a fault of usage is one line. */
function withStreams(program: Command, io: Io): Command {
  for (const each of [program, ...program.commands, ...program.commands.flatMap((c) => c.commands)])
    each
      .exitOverride()
      .configureHelp({ showGlobalOptions: true })
      .configureOutput({
        writeOut: io.out,
        writeErr: io.err,
        outputError: (text, write) => {
          const words = text.replace(/^error: /, '').replace(/\s+/g, ' ');
          write(`${NAME}: ${printable(words.trim())} (see ${NAME} --help)\n`);
        },
      });
  return program;
}

function exitHelp(): string {
  const lines = EXIT_MEANINGS.map(([status, means]) => `  ${String(status).padEnd(4)} ${means}\n`);
  return `Exit status:\n${lines.join('')}`;
}
