/** The program `fundctl`, with streams and environment from its caller. */
import packageJson from '../../package.json' with { type: 'json' };
import { Option } from 'commander';
import { examplesOf, subcommandTerm } from '../command-line/examples.ts';
import type { Io } from '../command-line/io.ts';
import { run, type ProgramSpec } from '../command-line/program.ts';
import { Session } from '../command-line/session.ts';
import { OUTPUTS } from '../command-line/settings.ts';
import { PROGRAM, TREE } from './tree.ts';

const MORE = `Environment:
  SVC_API_URL              the service, http://localhost:8100 where it is not set
  SVC_KEY_ID               the key; its secret is in the file SVC_HMAC_SECRET_FILE, or SVC_HMAC_SECRET
  SVC_OUTPUT               table or json
  SVC_APPROVER             who decides, as a label
  SVC_DASHBOARD_OPERATOR   who changes the allowlist; SVC_DASHBOARD_SECRET_FILE is the secret
  SVC_CLIENT_CONFIG        the file of profiles, ~/.config/${PROGRAM}/config.json where it is not set
  NO_COLOR                 no colours

`;

export const FUNDCTL: ProgramSpec<Session> = {
  name: PROGRAM,
  about: 'Operate the fund movement orchestrator through its API.',
  version: packageJson.version,
  tree: TREE,
  more: MORE,
  globals: [
    new Option('--profile <name>', 'a profile of the configuration file'),
    new Option('--output <form>', 'table for people, json for programs (also SVC_OUTPUT)').choices(
      OUTPUTS,
    ),
    new Option('--quiet', 'no progress and no notes on standard error'),
  ],
  session: (io, globals) => new Session(PROGRAM, io, globals),
  help: { examples: examplesOf, subcommandTerm },
};

/** Runs one command line; `args` has no node and no script. Returns the exit status. */
export function fundctl(args: readonly string[], io: Io): Promise<number> {
  return run(FUNDCTL, args, io);
}
