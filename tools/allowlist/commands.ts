/**
 * `fundadmin allowlist`: manages the addresses that may be paid, for operators without the
 * dashboard. Each command prints one JSON value.
 */
import { Option, type Command } from 'commander';
import { CHAIN_FAMILIES, type ChainFamily } from '../../domain/allowlist/address.ts';
import { listAllowed } from '../../store/allowlist.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, withDatabase, type DatabaseOption } from '../database.ts';
import type { ToolIo } from '../io.ts';
import { add, setActive, setChain, type AddOptions, type ChangeOptions } from './change.ts';

const ID = ['--id <id>', 'the row'] as const;
const REASON = ['--reason <text>', 'why; kept with the row and in the audit'] as const;
const family = (): Option =>
  new Option('--family <family>', 'evm for what chains pay, cex for what exchanges pay').choices(
    CHAIN_FAMILIES,
  );
/** A limit above the size of any allowlist, so that all rows are listed. */
const ALL = 1_000_000;

/** Adds the group `allowlist` to the program. */
export function addAllowlistCommands(program: Command, io: ToolIo): void {
  const allowlist = program
    .command('allowlist')
    .description('The addresses that funds may leave to. Rows are revoked, never removed.');
  const print = (value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);

  command(allowlist, 'add', { widens: 'allowlist' })
    .description(
      'Put an address on the list, or back on it; its cooling period begins, where there is one.',
    )
    .addOption(family().makeOptionMandatory())
    .requiredOption('--address <address>', 'whom to pay')
    .option('--chain-id <n>', 'the only chain on which it may be paid; every chain when left out')
    .option('--label <text>', 'a name for people')
    .requiredOption(...REASON)
    .option(...DATABASE_OPTION)
    .action(async (options: AddOptions) => {
      print(await add(options, io));
    });

  command(allowlist, 'list', 'reads')
    .description('The rows in force, newest first.')
    .addOption(family())
    .option('--include-inactive', 'those that were revoked, too')
    .option(...DATABASE_OPTION)
    .action(
      async (options: DatabaseOption & { family?: ChainFamily; includeInactive?: boolean }) => {
        const filter = {
          chain_family: options.family,
          include_inactive: options.includeInactive === true,
        };
        print(
          await withDatabase(options, io, (db) =>
            listAllowed(db, filter, { limit: ALL, after: null }),
          ),
        );
      },
    );

  for (const [name, active, power, description] of [
    [
      'revoke',
      false,
      'narrows',
      'Take a row out of force: nothing more is sent there, not even by what is approved already.',
    ],
    [
      'reactivate',
      true,
      { widens: 'allowlist' },
      'Put a row back in force; its cooling period begins, where there is one.',
    ],
  ] as const) {
    command(allowlist, name, power)
      .description(description)
      .requiredOption(...ID)
      .requiredOption(...REASON)
      .option(...DATABASE_OPTION)
      .action(async (options: ChangeOptions & { id: string }) => {
        print(await setActive(options, active, io));
      });
  }

  command(allowlist, 'set-chain', { widens: 'allowlist' })
    .description(
      'Move a row to another chain, or to every chain; its cooling period begins again, where there is one.',
    )
    .requiredOption(...ID)
    .requiredOption('--chain-id <n>', 'the chain, or any')
    .requiredOption(...REASON)
    .option(...DATABASE_OPTION)
    .action(async (options: ChangeOptions & { id: string; chainId: string }) => {
      print(await setChain(options, io));
    });
}
