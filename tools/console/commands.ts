/** `fundadmin console`: checks whether the page that operators get is the page of this release. */
import type { Command } from 'commander';
import { command } from '../command.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { verifyConsole } from './verify.ts';

/** Adds the group `console` to the program. */
export function addConsoleCommands(program: Command, io: ToolIo): void {
  const page = program.command('console').description("The operators' page.");
  command(page, 'verify', 'reads')
    .description(
      'Fetch every file of the page as it is served and compare it with this release; exit status 1 where one differs. Run it elsewhere than on the machine that serves.',
    )
    .requiredOption('--url <address>', 'the origin that operators open, such as https://host')
    .action(async ({ url }: { url: string }) => {
      const { files, faults } = await verifyConsole(url);
      io.out(`${JSON.stringify({ ok: faults.length === 0, files, faults }, null, 2)}\n`);
      if (faults.length > 0)
        throw new ToolError(
          `The page at ${url} is not the one of this release. Do not sign with it before you know why.`,
        );
    });
}
