/**
 * `fundadmin webhooks`: where the service tells people that something waits for them. Each command
 * prints one JSON value.
 */
import { Option, type Command } from 'commander';
import { WEBHOOK_EVENTS } from '../../domain/callbacks/webhook.ts';
import { listWebhooks } from '../../store/webhooks.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, withDatabase, type DatabaseOption } from '../database.ts';
import type { ToolIo } from '../io.ts';
import { remove, send, set, type NameOptions, type SetOptions } from './change.ts';

const NAME = ['--name <name>', 'the webhook, in lower case letters, digits and hyphens'] as const;

/** Adds the group `webhooks` to the program. */
export function addWebhookCommands(program: Command, io: ToolIo): void {
  const webhooks = program
    .command('webhooks')
    .description(
      'Addresses that hear of everything that waits for a person, and of the cutover switch. Messages are signed and sent as callbacks are, and link to the console.',
    );
  const print = (value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);

  command(webhooks, 'list', 'reads')
    .description('Every webhook.')
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      print(await withDatabase(options, io, listWebhooks));
    });

  command(webhooks, 'set', 'narrows')
    .description('Create a webhook, or replace address and types of one.')
    .requiredOption(...NAME)
    .requiredOption(
      '--url <url>',
      'https, or http to this machine; its host must be in SVC_CALLBACK_ALLOWED_HOSTS_CSV',
    )
    .addOption(
      new Option(
        '--event <type...>',
        'what it hears of; everything when left out, also what comes with later releases',
      ).choices(WEBHOOK_EVENTS),
    )
    .option(
      '--console-origin <origin>',
      'where people open the console, such as https://funds.example; SVC_CONSOLE_ORIGIN when left out',
    )
    .option('--reason <text>', 'kept in the audit')
    .option(...DATABASE_OPTION)
    .action(async (options: SetOptions) => {
      print(await set(options, io));
    });

  command(webhooks, 'remove', 'narrows')
    .description('Remove a webhook, with the messages that it has not received.')
    .requiredOption(...NAME)
    .option('--reason <text>', 'kept in the audit')
    .option(...DATABASE_OPTION)
    .action(async (options: NameOptions) => {
      print(await remove(options, io));
    });

  command(webhooks, 'test', 'narrows')
    .description(
      'Send the message webhook.test; `fundctl callbacks list --webhook` shows what became of it.',
    )
    .requiredOption(...NAME)
    .option(...DATABASE_OPTION)
    .action(async (options: NameOptions) => {
      print(await send(options, io));
    });
}
