/** `fundadmin keys`: issues, lists and revokes API keys. Each command prints one JSON value. */
import { Option, type Command } from 'commander';
import { ROLES, type Role } from '../../domain/roles.ts';
import { listKeys } from '../../store/keys.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, withDatabase } from '../database.ts';
import type { ToolIo } from '../io.ts';
import { auditKeyText } from './audit-key.ts';
import { COMPROMISED_OPTION, SINCE_OPTION } from './compromised.ts';
import { issue, type IssueOptions } from './issue.ts';
import { revoke, type RevokeOptions } from './revoke.ts';

/** Adds the group `keys` to the program. */
export function addKeyCommands(program: Command, io: ToolIo): void {
  const keys = program
    .command('keys')
    .description('Keys of callers: a key has one role, a client may have several keys.');
  const print = (value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);

  command(keys, 'audit-key', 'reads')
    .description(
      'Derive SVC_AUDIT_KEY from SVC_SECRETS_KEY: with it a worker vouches for audit rows and can open no secret of a caller. What it prints is a secret.',
    )
    .action(() => print({ audit_key: auditKeyText(io) }));

  command(keys, 'issue', { widens: 'keys' })
    .description('Issue a key. Its secret is printed once, here, and stored only encrypted.')
    .requiredOption(
      '--client-name <name>',
      'who calls; an active client of this name is used again',
    )
    .requiredOption('--key-id <id>', 'a name for the key, such as <caller>-<environment>')
    .addOption(
      new Option('--role <role>', 'what the key may do').choices(ROLES).makeOptionMandatory(),
    )
    .option(...DATABASE_OPTION)
    .option(
      '--hmac-secret <secret>',
      'a secret of your own; other users of this machine can see it in the list of processes',
    )
    .option('--hmac-secret-file <file>', 'a file with a secret of your own, - for standard input')
    .option(
      '--cert-fingerprint <sha256>',
      "SHA-256 of the caller's client certificate, kept with the key for a proxy to compare",
    )
    .option(
      '--authority-key <key>',
      'for an agent: the authority that the key is bound to; made when there is none',
    )
    .option(
      '--max-notional <decimal>',
      "the authority's limit for one proposal, and for one movement in each asset; none covers no amount",
    )
    .option(
      '--allowed-assets <csv>',
      'assets that its proposals and movements may move; none covers no asset',
    )
    .option(
      '--allowed-chains <csv>',
      'chains that they may name: venue keys or decimal ids, for withdrawals also the network as the exchange calls it',
    )
    .option('--max-ttl-seconds <n>', 'how long its proposals may live')
    .option('--replace', 'revoke the key that the authority has now, in the same step')
    .option('--reason <text>', 'why, for --break-glass')
    .action(async (options: IssueOptions & { role: Role }) => {
      print(await issue(options, io));
    });

  command(keys, 'list', 'reads')
    .description('Every key with its status, without its secret.')
    .option(...DATABASE_OPTION)
    .option('--client-name <name>', 'only those of one client')
    .action(async (options: { databaseUrl?: string; clientName?: string }) => {
      print(await withDatabase(options, io, (db) => listKeys(db, options.clientName ?? null)));
    });

  command(keys, 'revoke', 'narrows')
    .description('Revoke a key for good: it is refused everywhere from now on, and its row stays.')
    .requiredOption('--key-id <id>', 'the key')
    .option(...COMPROMISED_OPTION)
    .option(...SINCE_OPTION)
    .option('--reason <text>', 'kept in the audit')
    .option(...DATABASE_OPTION)
    .action(async (options: RevokeOptions) => {
      print(await revoke(options, io));
    });
}
