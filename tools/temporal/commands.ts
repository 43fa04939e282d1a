/** `fundadmin temporal`: commands about the Temporal server. */
import type { Command } from 'commander';
import { pino } from 'pino';
import { SEARCH_ATTRIBUTES } from '../../domain/messages.ts';
import { SearchAttributeFault } from '../../platform/search-attributes.ts';
import { command } from '../command.ts';
import { ToolError, type ToolIo } from '../io.ts';

/** Adds the group `temporal`; its commands use the server settings of this environment. */
export function temporalCommands(program: Command, io: ToolIo): void {
  const temporal = program
    .command('temporal')
    .description("Temporal's server and namespace, as this environment reaches them.");
  command(temporal, 'search-attributes', 'narrows', { recordsWho: false })
    .description(
      'Register the search attributes that are missing, as a worker does before it takes work. Where that is not permitted: exit status 1, and the command that an operator has to run.',
    )
    .action(async () => {
      const { withTemporal } = await import('./connection.ts');
      const lines: string[] = [];
      const log = pino({ level: 'info', base: null }, { write: (line) => void lines.push(line) });
      try {
        await withTemporal(io, (temporal) => temporal.registerSearchAttributes(log));
      } catch (error) {
        if (error instanceof SearchAttributeFault) throw new ToolError(error.message);
        throw error;
      }
      const said = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
      for (const { level, msg } of said) if (level >= WARNING) io.err(`${msg}\n`);
      const seen = !said.some(({ level }) => level >= WARNING);
      io.out(
        `${JSON.stringify({ ok: seen, registered_now: seen && said.length > 0, names: Object.values(SEARCH_ATTRIBUTES) }, null, 2)}\n`,
      );
      if (!seen) throw new ToolError('The search attributes could not be read.');
    });
}

/** Pino's number for the level `warn`. */
const WARNING = 40;
