/** The agent CLI: only the requests that an agent may send. */
import { Option } from 'commander';
import { VERSION } from '../agent/version.ts';
import type { Io } from '../command-line/io.ts';
import { run, type ProgramSpec } from '../command-line/program.ts';
import { movements, wait } from './commands/movements.ts';
import { bridgeAttempt, proposals } from './commands/proposals.ts';
import { balances, routes, whoami } from './commands/reads.ts';
import { Session } from './session.ts';

const MORE = `Settings: SVC_KEY_ID, SVC_HMAC_SECRET_FILE (or SVC_HMAC_SECRET), SVC_API_URL,
SVC_AGENT_NAMESPACE or SVC_AUTHORITY_KEY (else the key's own), SVC_OUTPUT (json).
`;

const FUNDAGENT: ProgramSpec<Session> = {
  name: 'fundagent',
  about: 'Reads the fund movement service, and proposes, as an agent.',
  version: VERSION,
  tree: [whoami, routes, balances, movements, wait, proposals, bridgeAttempt],
  more: MORE,
  globals: [
    new Option('--output <form>', 'table for people, json for programs').choices(['table', 'json']),
  ],
  session: (io, { output }) => new Session(io, output),
};

/** Runs one command line; `args` has no node and no script. Returns the exit status. */
export function fundagent(args: readonly string[], io: Io): Promise<number> {
  return run(FUNDAGENT, args, io);
}
