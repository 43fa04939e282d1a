/** `fundadmin audit`: verifies and exports the audit trail. */
import { type Command, InvalidArgumentError } from 'commander';
import type { ChainHead } from '../../platform/audit-chain.ts';
import { command, time } from '../command.ts';
import { auditMacs, DATABASE_OPTION, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { checkBundle } from './check-bundle.ts';
import { exportAudit } from './export.ts';
import { makeKey, readPrivateKey, readPublicKey } from './keys.ts';
import { verifyDecisions, type DecisionReport } from './decisions.ts';
import { verifyAudit } from './verify.ts';

interface VerifyArguments extends DatabaseOption {
  readonly expectHead?: ChainHead;
  readonly unauthenticatedBefore?: Date;
}
interface ExportArguments extends DatabaseOption {
  readonly from: Date;
  readonly to: Date;
  readonly out: string;
  readonly keyFile: string;
}

/** Adds the group `audit` to the program. Each command prints one JSON object. */
export function auditCommands(program: Command, io: ToolIo): void {
  const group = program
    .command('audit')
    .description('Show that the audit trail is as it was written.');
  const answer = <T extends { readonly ok: boolean }>(result: T, otherwise = ''): void => {
    io.out(`${JSON.stringify(result)}\n`);
    if (!result.ok) throw new ToolError(otherwise);
  };

  command(group, 'verify', 'reads')
    .description(
      'Recompute the whole chain and name the places that are not as they were written. SVC_AUDIT_KEY or SVC_SECRETS_KEY holds the key.',
    )
    .option(...DATABASE_OPTION)
    .option(
      '--expect-head <position:hash>',
      'a head seen earlier; the chain must still go through it',
      head,
    )
    .option(
      '--unauthenticated-before <timestamp>',
      'accept rows without a MAC up to the time when the key was set',
      time,
    )
    .action(async (options: VerifyArguments) => {
      const macs = auditMacs(io);
      if (!macs.keyed) io.err('SVC_SECRETS_KEY is not set: who wrote the rows is not checked.\n');
      const unauthenticatedBefore = options.unauthenticatedBefore?.getTime() ?? null;
      const settings = { macs, unauthenticatedBefore, expectHead: options.expectHead ?? null };
      const { decisions, ...trail } = await withDatabase(options, io, async (db) => ({
        ...(await verifyAudit(db, settings)),
        decisions: await verifyDecisions(db),
      }));
      const [first] = decisions.faults;
      answer(
        { ...trail, ok: trail.ok && decisions.ok, decisions },
        first === undefined || !trail.ok
          ? `The audit trail is not as it was written: ${trail.first_fault?.message ?? ''}`
          : `The decision ${first.decision_id} is not as it was made: ${JSON.stringify(first.fault)}`,
      );
    });

  command(group, 'decisions', 'reads')
    .description(
      'Print for each approval under a rule, and each withdrawal of one, what it proves: an assertion of a passkey, which anybody can verify, or only that a holder of the secret made it, and the service is one.',
    )
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      const all: DecisionReport[] = [];
      const { faults, ...counts } = await withDatabase(options, io, (db) =>
        verifyDecisions(db, (each) => all.push(each)),
      );
      answer({ ...counts, all }, `${String(faults.length)} decisions are not as they were made.`);
    });

  command(group, 'export', 'reads')
    .description('Write the records of a time with their seals into a signed file.')
    .requiredOption('--from <timestamp>', 'inclusive', time)
    .requiredOption('--to <timestamp>', 'exclusive', time)
    .requiredOption('--out <file>', 'must not exist yet')
    .requiredOption('--key-file <pem>', 'an Ed25519 private key (audit make-key)')
    .option(...DATABASE_OPTION)
    .action(async ({ from, to, out, keyFile, ...options }: ExportArguments) => {
      const range = { from: from.toISOString(), to: to.toISOString() };
      const key = readPrivateKey(keyFile);
      const exported = await withDatabase(options, io, (db) =>
        exportAudit(db, { ...range, out, key }),
      );
      answer({ ok: true, ...range, out, ...exported });
    });

  command(group, 'check-bundle <file>', 'reads')
    .description('Check an exported file without the database.')
    .option(
      '--public-key <pem>',
      'the key it must be signed with; without it anybody may have signed',
    )
    .action(async (file: string, options: { readonly publicKey?: string }) => {
      const expected = options.publicKey === undefined ? null : readPublicKey(options.publicKey);
      const result = await checkBundle(file, expected).catch((error: unknown) => {
        throw new ToolError(
          `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      });
      if (result.ok && !result.trusted)
        io.err(
          'The bundle is whole. Its signer was not checked: name the key with --public-key.\n',
        );
      answer(result, `The bundle is not as it was signed: ${result.fault ?? ''}`);
    });

  command(group, 'make-key', 'reads')
    .description('Write a new Ed25519 key pair for exports.')
    .requiredOption('--out <file>', 'the private key; the public one goes to <file>.pub')
    .action((options: { readonly out: string }) => answer({ ok: true, ...makeKey(options.out) }));
}

function head(text: string): ChainHead {
  const match = /^([1-9]\d{0,17}):([0-9a-f]{64})$/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined)
    throw new InvalidArgumentError('It must be <position>:<chain hash in hex>.');
  return { position: BigInt(match[1]), chain_hash: match[2] };
}
