/** `fundadmin passkeys`: lets a person's passkey count, and ends it. Each command prints JSON. */
import type { Command } from 'commander';
import { APPROVAL_NAME } from '../../platform/approval-rule.ts';
import { readFingerprint } from '../../platform/one-time.ts';
import { passkeyFingerprint } from '../../platform/passkeys.ts';
import {
  confirmPasskey,
  listPasskeys,
  readOffered,
  revokePasskey,
  shownPasskey,
} from '../../store/passkeys.ts';
import { command } from '../command.ts';
import {
  DATABASE_OPTION,
  setting,
  warnUnvouched,
  withDatabase,
  type DatabaseOption,
} from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { toolAudit } from '../keys/audit.ts';
import {
  checkCompromised,
  compromise,
  COMPROMISED_OPTION,
  SINCE_OPTION,
  type CompromisedOptions,
} from '../keys/compromised.ts';

/** Adds the group `passkeys` to the program. */
export function addPasskeyCommands(program: Command, io: ToolIo): void {
  const passkeys = program
    .command('passkeys')
    .description('Passkeys, whose approvals the service itself cannot make up.');
  const print = (value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);

  command(passkeys, 'list', 'reads')
    .description('Every passkey, also those that have ended.')
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      print((await withDatabase(options, io, listPasskeys)).map(shownPasskey));
    });

  command(passkeys, 'confirm', { widens: 'keys' })
    .description(
      "Let a passkey count whose fingerprint is what the person's page shows: ask the person.",
    )
    .requiredOption('--person <key>', 'whose passkey it is')
    .requiredOption('--fingerprint <text>', 'the four groups that the page shows')
    .option('--reason <text>', 'why, for --break-glass')
    .option(...DATABASE_OPTION)
    .action(async (options: ConfirmOptions) => {
      print(await confirm(options, io));
    });

  command(passkeys, 'revoke', 'narrows')
    .description(
      'End a passkey. What it signed counts no longer for movements and changes that still wait.',
    )
    .requiredOption('--credential <id>', 'its id, as passkeys list shows it')
    .option(...COMPROMISED_OPTION)
    .option(...SINCE_OPTION)
    .option('--reason <text>', 'why; kept in the audit')
    .option(...DATABASE_OPTION)
    .action(async (options: RevokeOptions) => {
      print(await revoke(options, io));
    });
}

interface ConfirmOptions extends DatabaseOption {
  readonly person: string;
  readonly fingerprint: string;
}

interface RevokeOptions extends DatabaseOption, CompromisedOptions {
  readonly credential: string;
  readonly reason?: string;
}

/** Confirms the passkey that was made for the person and has this fingerprint. */
async function confirm({ person, fingerprint, ...options }: ConfirmOptions, io: ToolIo) {
  if (!APPROVAL_NAME.test(person))
    throw new ToolError(`--person does not fit ${APPROVAL_NAME.source}.`, { exitCode: 2 });
  const typed = readFingerprint(fingerprint);
  if (typed === null)
    throw new ToolError('--fingerprint must be the four groups that the page shows.', {
      exitCode: 2,
    });
  warnUnvouched(io, 'confirmation');
  return withDatabase(options, io, async (db) => {
    const known = (await listPasskeys(db)).find((each) => passkeyFingerprint(each) === typed);
    if (known?.person === person && known.revoked_at === null) return shownPasskey(known);
    const offered = await readOffered(db, person);
    // Computed from the key itself, so that it says which key it is.
    const found = offered.find((each) => passkeyFingerprint(each) === typed);
    if (found === undefined)
      throw new ToolError(
        `${person} has made no passkey with this fingerprint in the last seven days; the page Passkeys of the console makes one.`,
      );
    const { credential_id, origin } = found;
    const console = setting(io, 'SVC_CONSOLE_ORIGIN');
    if (console !== undefined && console !== origin)
      throw new ToolError(
        `This passkey was made at ${origin}, and the console is ${console}: it would not answer there. Make another one.`,
      );
    const audit = { ...toolAudit('passkey.confirm', credential_id), entity_type: 'passkey' };
    const confirmed = await confirmPasskey(db, credential_id, [
      { ...audit, details: { tool: 'fundadmin', person, fingerprint: typed } },
    ]);
    if (confirmed === null)
      throw new ToolError(
        `This passkey of ${person} cannot be confirmed: it was revoked, or its maker is not ${person} now. Make another one.`,
      );
    return shownPasskey(confirmed);
  });
}

/** Ends a passkey; with `--compromised` also one that has ended already. */
async function revoke(
  { credential, reason, compromised = false, since, ...options }: RevokeOptions,
  io: ToolIo,
) {
  checkCompromised({ compromised, ...(since === undefined ? {} : { since }) });
  warnUnvouched(io, 'change');
  return withDatabase(options, io, async (db) => {
    const audit = { ...toolAudit('passkey.revoke', credential), entity_type: 'passkey' };
    const revoked = await revokePasskey(db, credential, [
      { ...audit, ...(reason === undefined ? {} : { reason }) },
    ]);
    if (!compromised) {
      if (revoked === null)
        throw new ToolError(`No passkey of this id is in force; see passkeys list.`);
      return shownPasskey(revoked);
    }
    const known =
      revoked ?? (await listPasskeys(db)).find((each) => each.credential_id === credential);
    if (known === undefined)
      throw new ToolError('There is no passkey of this id; see passkeys list.');
    const key = { kind: 'passkey', key_id: credential } as const;
    const why = { reason: reason ?? null, ...(since === undefined ? {} : { since }) };
    return { ...shownPasskey(known), compromised: await compromise(db, key, why) };
  });
}
